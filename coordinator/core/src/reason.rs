//! Why a decision fell. Every effect on a gate has one; `mgpu why`, logs and metrics show it.

use std::fmt;

/// What was decided about a tenant, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Granted: nobody else is attached, nothing is capped.
    SoleTenant,
    /// Granted: it is owed most.
    MostOwed,
    /// Granted: nobody else wants the device.
    NobodyElse,
    /// Ajar: an online tenant that is idle may launch at once and will be noticed.
    OnlineReady,
    /// Granted: online work came while the offline class had the device.
    OnlineArrived,
    /// Open, not exclusively: after a restart not all tenants have been seen quiesced.
    Observing,
    /// Revoked: its slice is over and others wait.
    SliceOver,
    /// Revoked: it has used its share.
    ShareUsed,
    /// Revoked: it was idle for longer than its grace.
    Idle,
    /// Revoked: it was granted and did not launch.
    NeverLaunched,
    /// Revoked: online work has come.
    Preempted,
    /// Revoked: its row, its class or the policy changed.
    Changed,
    /// Closed: it stood ajar, and another online tenant has the turn now.
    OnlineTurn,
    /// Closed: after a restart, exclusive turns begin.
    TurnsBegin,
    /// Closed: it was attached by an earlier daemon and has to quiesce once.
    Reattached,
    /// Its turn is over: quiesced.
    Quiesced,
    /// It did not quiesce by the drain deadline; the next one is let in, it keeps paying.
    DeadlinePassed,
    /// Its turn is over: no live client.
    Gone,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SoleTenant => "granted: it is the only tenant and nothing is capped",
            Self::MostOwed => "granted: of those who want the device it is owed most",
            Self::NobodyElse => "granted: nobody else wants the device",
            Self::OnlineReady => "open and notify: online and idle, its next launch passes at once",
            Self::OnlineArrived => "granted: online work came while the offline class had the device",
            Self::Observing => "open beside others: after a restart not every tenant has been seen quiesced",
            Self::SliceOver => "revoked: its slice is over and another is owed as much or more",
            Self::ShareUsed => "revoked: it has used its share",
            Self::Idle => "revoked: it was idle for longer than its grace while another could use the device",
            Self::NeverLaunched => "revoked: it was granted and did not launch",
            Self::Preempted => "revoked: online work has come",
            Self::Changed => "revoked: its settings or the device's policy changed",
            Self::OnlineTurn => "closed: another online tenant has the turn now",
            Self::TurnsBegin => "closed: after a restart, exclusive turns begin",
            Self::Reattached => "closed: it ran under an earlier daemon and has to quiesce once",
            Self::Quiesced => "turn over: quiesced",
            Self::DeadlinePassed => "not quiesced by the drain deadline: the next tenant is let in, it keeps paying",
            Self::Gone => "turn over: it has no live client",
        })
    }
}

//! The engine's settings, each with its unit and default. The shell reads them from its configuration file.

use mgpu_protocol::units::Nanos;

/// What an online tenant that has used its cap means for the offline class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CappedOnline {
    /// It has work (it waits), so offline gates stay closed. The promise of the class, to the letter.
    #[default]
    Strict,
}

/// Settings of one device's engine. Changeable while tenants run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long the device stays with the online class after its last work. Default 100 ms.
    pub hold: Nanos,
    /// One round of turns: each competing tenant has a turn of its part of it. Default 60 ms: a hand-over that costs 150 µs
    /// then takes 0.25 points of share, and a cut through a round moves a 1 s window by at most 1.5 points.
    pub round: Nanos,
    /// Shortest nominal turn. Default 2 ms.
    pub slice_min: Nanos,
    /// Longest nominal turn. Default 50 ms.
    pub slice_max: Nanos,
    /// How long a revoked tenant is waited for before the next one is let in. Default 100 ms.
    pub drain_deadline: Nanos,
    /// Bounds of the time that a holder may be idle before its turn is given up; learnt between them. Default 0.5 to 2 ms.
    pub grace_min: Nanos,
    /// See `grace_min`.
    pub grace_max: Nanos,
    /// How long a tenant that was granted may take to launch for the first time (a thread has to wake up). Default 5 ms.
    pub wake_grace: Nanos,
    /// Distance of two looks at a holder while others wait; at one that never pauses they are four times rarer. Default 500 µs.
    pub poll_holder: Nanos,
    /// Distance of two looks at a tenant whose drain may end any moment while others wait; while it has far to go they are rarer,
    /// to `poll_holder`. Default 50 µs.
    pub poll_drain: Nanos,
    /// Device time that a tenant should have in flight while the device is shared or capped. Default 4 ms.
    pub window_time: Nanos,
    /// Launches in flight allowed before anything is known about a tenant's kernels. Default 1.
    pub window_first: u32,
    /// Most launches in flight while the device is shared or capped. Default 256.
    pub window_max: u32,
    /// What an online tenant at its cap means for the offline class. Default strict.
    pub capped_online: CappedOnline,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hold: Nanos::from_millis(100),
            round: Nanos::from_millis(60),
            slice_min: Nanos::from_millis(2),
            slice_max: Nanos::from_millis(50),
            drain_deadline: Nanos::from_millis(100),
            grace_min: Nanos::from_micros(500),
            grace_max: Nanos::from_millis(2),
            wake_grace: Nanos::from_millis(5),
            poll_holder: Nanos::from_micros(500),
            poll_drain: Nanos::from_micros(50),
            window_time: Nanos::from_millis(4),
            window_first: 1,
            window_max: 256,
            capped_online: CappedOnline::Strict,
        }
    }
}

//! Self-declared tenants: a process that was given `MGPU_*` variables by hand names its own limits. Only where the operator
//! allows it. One text packet in (`key = value` lines, keys as everywhere), one out: `directory = PATH` or `error = TEXT`.

use std::os::fd::AsFd;

use mgpu_coordinator_core::{Refusal, TenantId};
use mgpu_protocol::control::Settings;
use mgpu_protocol::socket;
use mgpu_protocol::units::{Bytes, Nanos, parse_total_share};
use tracing::{info, warn};

use super::{Daemon, Source};
use crate::poller::Token;
use crate::process::{self, Peer};
use crate::state::Origin;
use crate::tenant::{DECLARED_GRACE, Tenant};

const MAX_PACKET: usize = 4096;
const MAX_PEERS: usize = 64;

/// When a declared tenant whose client never came goes.
pub(super) fn deadline(tenant: &Tenant) -> Option<Nanos> {
    let awaited = matches!(tenant.origin, Origin::Declared { .. }) && !tenant.had_client;
    awaited.then(|| tenant.made.plus(DECLARED_GRACE))
}

impl Daemon {
    pub(super) fn accept_declare(&mut self) {
        let Some(listener) = &self.declare else { return };
        let fd = match socket::accept(listener.as_fd()) {
            Ok(fd) => fd,
            Err(error) => return self.cannot_accept(&error),
        };
        if self.declare_peers.len() >= MAX_PEERS {
            warn!("{MAX_PEERS} processes declare themselves at once, another one was closed");
            return;
        }
        let Ok(token) = self.watch(&fd, Source::DeclarePeer) else { return };
        self.declare_peers.insert(token, fd);
    }

    pub(super) fn on_declare(&mut self, token: Token) {
        let Some(fd) = self.declare_peers.remove(&token) else { return };
        self.unwatch(&fd, token);
        let mut buffer = [0_u8; MAX_PACKET];
        let Ok(received) = socket::receive(fd.as_fd(), &mut buffer) else { return };
        let Some(peer) = process::peer(fd.as_fd()) else { return };
        if received.len == 0 {
            return;
        }
        let text = buffer.get(..received.len).map(String::from_utf8_lossy).unwrap_or_default();
        let answer = match self.declare(&text, &peer) {
            Ok(directory) => format!("directory = {directory}\n"),
            Err(refusal) => {
                info!(pid = peer.process.pid, %refusal, "a declared tenant was refused");
                format!("error = {refusal}\n")
            }
        };
        let _ = socket::send(fd.as_fd(), answer.as_bytes(), &[]);
    }

    /// Finds or makes the tenant of a process that declares itself; gives its directory.
    fn declare(&mut self, text: &str, peer: &Peer) -> Result<String, Refusal> {
        let settings = parse(text)?;
        let key = match &settings.name {
            Some(name) => format!("user:{} name:{name}", peer.uid),
            None => {
                let session = process::session_of(peer.process.pid).unwrap_or(peer.process.pid);
                format!("user:{} session:{session}", peer.uid)
            }
        };
        let has_key = |t: &Tenant| matches!(&t.origin, Origin::Declared { key: other } if *other == key);
        let number: TenantId = match self.tenants.values().find(|t| has_key(t)).map(|t| t.number) {
            Some(number) => number,
            None => {
                let number = self.create(settings, Origin::Declared { key })?;
                self.save_soon();
                number
            }
        };
        let tenant = self.tenants.get(&number).ok_or_else(|| Refusal("the tenant has gone".to_owned()))?;
        Ok(tenant.directory.display().to_string())
    }
}

/// Settings as `MGPU_*` variables have them.
fn parse(text: &str) -> Result<Settings, Refusal> {
    let refuse = |e: mgpu_protocol::units::ParseError| Refusal(e.0);
    let mut settings = Settings::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once('=').ok_or_else(|| Refusal(format!("\"{line}\" is not key = value")))?;
        let value = value.trim();
        match key.trim() {
            "name" => settings.name = Some(value.to_owned()),
            "memory" => settings.memory = Some(value.parse::<Bytes>().map_err(refuse)?.0),
            "share" => settings.share = Some(parse_total_share(value).map_err(refuse)?),
            "class" => settings.class = Some(value.to_owned()),
            "weight" => {
                let weight = value.parse().map_err(|_| {
                    Refusal(format!(
                        "weight \"{value}\" is not a whole number: 1 to {}",
                        mgpu_coordinator_core::Weight::MAX
                    ))
                });
                settings.weight = Some(weight?);
            }
            "policy" => settings.policy = Some(value.to_owned()),
            "devices" => settings.devices = value.split(',').map(|d| d.trim().to_owned()).collect(),
            other => {
                return Err(Refusal(format!(
                    "setting \"{other}\" is unknown: name, memory, share, class, weight, policy, devices"
                )));
            }
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_variables_have_them() {
        let settings = parse("memory = 2GiB\nshare = 30\nclass = offline\ndevices = 0, 1\n").expect("valid");
        assert_eq!(settings.memory, Some(2 << 30));
        assert_eq!(settings.share, Some(30));
        assert_eq!(settings.devices, ["0", "1"]);
        for (text, part) in
            [("share = 0.3", "write 30"), ("memory = much", "much"), ("shere = 1", "shere"), ("x", "key = value")]
        {
            let error = parse(text).expect_err(text).0;
            assert!(error.contains(part), "{error}");
        }
    }
}

//! The control socket: one JSON object a line, request then response, for the same user and root. A tenant is confirmed only
//! when it stands in the state file.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use mgpu_coordinator_core::{Refusal, TenantId};
use mgpu_protocol::control::{Request, Response, Settings, TenantRow};
use mgpu_protocol::gate::{Gate, GateState};
use mgpu_protocol::{PAGE_VERSION, PROTOCOL_VERSION, socket};
use tracing::{debug, info, warn};

use super::{Daemon, Source};
use crate::clock;
use crate::poller::Token;
use crate::process::{self, ProcessId};
use crate::state::Origin;
use crate::tenant::Tenant;

/// A connection of a person's command.
#[derive(Debug)]
pub(crate) struct Peer {
    socket: OwnedFd,
    process: ProcessId,
    uid: u32,
    buffer: Vec<u8>,
    /// Answers that wait for the state file to have this number.
    waiting: VecDeque<(u64, Response)>,
}

/// Longest request line.
const MAX_LINE: usize = 64 << 10;
/// Open connections; more are closed at once.
const MAX_PEERS: usize = 64;

impl Daemon {
    pub(super) fn accept_control(&mut self) {
        let fd = match socket::accept(self.control.as_fd()) {
            Ok(fd) => fd,
            Err(error) => return self.cannot_accept(&error),
        };
        if self.control_peers.len() >= MAX_PEERS {
            warn!("{MAX_PEERS} commands are connected, another one was closed");
            return;
        }
        let Some(peer) = process::peer(fd.as_fd()) else { return };
        let me = rustix::process::geteuid().as_raw();
        // An answer should never have to wait for its reader.
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(&fd, 1 << 20);
        if peer.uid != me && peer.uid != 0 {
            let message = format!("this coordinator belongs to user {me}; user {} may not command it", peer.uid);
            write_answer(&fd, &Response::Error { message });
            return;
        }
        let Ok(token) = self.watch(&fd, Source::ControlPeer) else { return };
        let peer =
            Peer { socket: fd, process: peer.process, uid: peer.uid, buffer: Vec::new(), waiting: VecDeque::new() };
        self.control_peers.insert(token, peer);
    }

    /// No descriptor is left, most likely, and the connection stays in the queue: asking again at once would never end.
    pub(super) fn cannot_accept(&mut self, error: &std::io::Error) {
        if error.kind() == std::io::ErrorKind::WouldBlock {
            return;
        }
        warn!(%error, "a command could not be accepted");
        self.deaf.mute(clock::now());
        self.hear_own_listeners(false);
    }

    pub(super) fn hear_own_listeners(&self, listen: bool) {
        for (token, source) in &self.sources {
            match (source, &self.declare) {
                (Source::ControlListener, _) => self.poller.listen_to(&self.control, *token, listen),
                (Source::DeclareListener, Some(declare)) => self.poller.listen_to(declare, *token, listen),
                _ => {}
            }
        }
    }

    pub(super) fn on_control(&mut self, token: Token) {
        let Some(peer) = self.control_peers.get_mut(&token) else { return };
        let mut chunk = [0_u8; 4096];
        match rustix::io::read(&peer.socket, &mut chunk) {
            Ok(0) => return self.close_control(token),
            Ok(length) => peer.buffer.extend_from_slice(chunk.get(..length).unwrap_or_default()),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            Err(_) => return self.close_control(token),
        }
        while let Some(line) = self.control_peers.get_mut(&token).and_then(|peer| take_line(&mut peer.buffer)) {
            self.on_line(token, &line);
        }
        if self.control_peers.get(&token).is_some_and(|p| p.buffer.len() > MAX_LINE) {
            let message = format!("a request is longer than {MAX_LINE} bytes");
            self.answer_control(token, &Response::Error { message });
            self.close_control(token);
        }
    }

    fn on_line(&mut self, token: Token, line: &[u8]) {
        let request = serde_json::from_slice::<Request>(line);
        let result = match request {
            Ok(request) => self.on_command(token, request),
            Err(error) => Err(Refusal(format!("the request can't be read: {error}"))),
        };
        match result {
            // A change is confirmed when it is on disk.
            Ok((response, true)) => {
                let number = self.save_now();
                if let Some(peer) = self.control_peers.get_mut(&token) {
                    peer.waiting.push_back((number, response));
                }
            }
            Ok((response, false)) => self.answer_control(token, &response),
            Err(refusal) => {
                info!(%refusal, "refused");
                self.answer_control(token, &Response::Error { message: refusal.0 });
            }
        }
    }

    /// Carries a command out; `true` = something changed that the state file must hold before the answer.
    fn on_command(&mut self, token: Token, request: Request) -> Result<(Response, bool), Refusal> {
        match request {
            Request::Create { settings, pid } => Ok((self.on_create(token, settings, pid)?, true)),
            Request::List => Ok((Response::Tenants { rows: self.rows() }, false)),
            Request::Set { tenant, settings } => self.change(&tenant, &settings).map(|()| (Response::Done, true)),
            Request::SetDevice { device, policy, hold_ms } => {
                self.change_device(&device, policy.as_deref(), hold_ms).map(|()| (Response::Done, true))
            }
            Request::Version => Ok((
                Response::Version {
                    daemon: env!("CARGO_PKG_VERSION").to_owned(),
                    protocol: PROTOCOL_VERSION,
                    page: PAGE_VERSION,
                    driver: self.gpu.driver_version(),
                },
                false,
            )),
        }
    }

    fn on_create(&mut self, token: Token, settings: Settings, pid: u32) -> Result<Response, Refusal> {
        let peer = self.control_peers.get(&token).map(|p| (p.process, p.uid));
        let Some((process, uid)) = peer else { return Err(Refusal("the connection has gone".to_owned())) };
        // `mgpu run` becomes the program, so it asks for itself; launchers ask for others.
        let process = if pid == 0 || pid == process.pid { process } else { of_another(pid, uid)? };
        let number = self.create(settings, Origin::Process(process))?;
        self.created(number)
    }

    /// What is told of a new tenant.
    pub(super) fn created(&self, number: TenantId) -> Result<Response, Refusal> {
        let tenant = self.tenants.get(&number).ok_or_else(|| Refusal("the tenant has gone".to_owned()))?;
        Ok(Response::Created {
            tenant: tenant.id.clone(),
            directory: tenant.directory.display().to_string(),
            devices: tenant.devices.iter().filter_map(|d| Some(self.devices.get(*d)?.uuid.clone())).collect(),
        })
    }

    fn rows(&self) -> Vec<TenantRow> {
        self.tenants.values().flat_map(|t| (0..t.devices.len()).filter_map(|line| self.row(t, line))).collect()
    }

    fn row(&self, tenant: &Tenant, line: usize) -> Option<TenantRow> {
        let device = self.devices.get(*tenant.devices.get(line)?)?;
        let entitlement = device.admission.row(tenant.number)?;
        let books = tenant.books.get(line)?;
        let status = device.engine.status(tenant.number);
        let word = tenant.grant_line(line)?.gate.load(mgpu_protocol::sync::Ordering::Relaxed);
        Some(TenantRow {
            tenant: tenant.id.clone(),
            name: tenant.name.clone(),
            device: device.uuid.clone(),
            policy: device.engine.policy().name().to_owned(),
            class: entitlement.class.to_string(),
            share: entitlement.share.map(|s| u32::from(s.get())),
            weight: entitlement.weight.get(),
            memory_limit: entitlement.memory.map(|m| m.0),
            memory_used: books.used(&tenant.pages.tenant.slots),
            device_time_ns: status.map_or(0, |s| s.account.paid.0),
            gate: gate_name(Gate::unpack(word).state).to_owned(),
            clients: tenant.seated().map(|(_, connection, _)| connection.process.pid).collect(),
        })
    }

    /// The state file holds everything up to `done`: confirms what waited for it.
    pub(super) fn answer_saved(&mut self, done: u64) {
        let mut answers = Vec::new();
        for (token, peer) in &mut self.control_peers {
            while let Some((_, response)) = peer.waiting.pop_front_if(|(number, _)| *number <= done) {
                answers.push((*token, response));
            }
        }
        for (token, response) in answers {
            crate::crash::point("before-answer");
            self.answer_control(token, &response);
        }
    }

    fn answer_control(&mut self, token: Token, response: &Response) {
        let Some(peer) = self.control_peers.get(&token) else { return };
        if !write_answer(&peer.socket, response) {
            debug!("a command did not read its answer");
            self.close_control(token);
        }
    }

    fn close_control(&mut self, token: Token) {
        if let Some(peer) = self.control_peers.remove(&token) {
            self.unwatch(&peer.socket, token);
        }
    }
}

/// Process `pid` as the one that a tenant of `asker` lives for: root asks for anybody's, others for their own processes, over
/// which they have every power anyway.
fn of_another(pid: u32, asker: u32) -> Result<ProcessId, Refusal> {
    let (process, owner) =
        process::with_owner(pid).ok_or_else(|| Refusal(format!("there is no process {pid} to make a tenant for")))?;
    if asker != 0 && owner != asker {
        return Err(Refusal(format!(
            "process {pid} belongs to user {owner}: user {asker} may make tenants for their own processes only"
        )));
    }
    Ok(process)
}

fn take_line(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = buffer.iter().position(|b| *b == b'\n')?;
    let mut line: Vec<u8> = buffer.drain(..=end).collect();
    line.pop();
    Some(line)
}

fn write_answer(to: &OwnedFd, response: &Response) -> bool {
    let Ok(mut text) = serde_json::to_vec(response) else { return false };
    text.push(b'\n');
    let flags = rustix::net::SendFlags::NOSIGNAL;
    rustix::net::send(to, &text, flags).is_ok_and(|sent| sent == text.len())
}

const fn gate_name(state: GateState) -> &'static str {
    match state {
        GateState::Closed => "closed",
        GateState::Open => "open",
        GateState::OpenNotify => "open-and-notify",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_ask_for_their_own_processes_and_root_for_all() {
        let pid = std::process::id();
        let me = rustix::process::geteuid().as_raw();
        let own = of_another(pid, me).expect("one's own");
        assert_eq!((own.pid, Some(own.started)), (pid, process::start_time(pid)));
        assert!(of_another(pid, 0).is_ok());
        let stranger = if me == 65_534 { 65_533 } else { 65_534 };
        let refusal = of_another(pid, stranger).expect_err("somebody else's").0;
        assert!(refusal.contains(&format!("process {pid} belongs to user {me}")), "{refusal}");
        for asker in [0, me] {
            assert!(of_another(4_000_000_000, asker).expect_err("nobody").0.contains("no process 4000000000"));
        }
    }
}

//! Tenants come, change and go. A tenant is admitted on all its devices or on none, and stands on disk before it is told of.

use std::fs;
use std::path::Path;

use mgpu_coordinator_core::{Entitlement, Event, Refusal, Request, TenantId, admission};
use mgpu_protocol::control::Settings;
use mgpu_protocol::entitlement::Entitlement as EntitlementFile;
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::{Bytes, Nanos};
use rustix::net::SocketType;
use tracing::{info, warn};

use super::{Daemon, Source};
use crate::books::Books;
use crate::clock;
use crate::config::Without;
use crate::crash;
use crate::look::Memory;
use crate::meter::Meter;
use crate::process::{self, ProcessId};
use crate::runtime_dir::{listen, own_directory, write_by_rename};
use crate::state::Origin;
use crate::tenant::{Bell, CONNECTS, Pages, Tenant};

/// A tenant that is to be made or restored.
pub(super) struct Plan {
    pub(super) number: TenantId,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) devices: Vec<usize>,
    pub(super) origin: Origin,
}

impl Daemon {
    /// Makes a tenant.
    ///
    /// # Errors
    /// What was asked for can't be given; names the value and the valid range. Nothing has changed then.
    pub(super) fn create(&mut self, settings: Settings, origin: Origin) -> Result<TenantId, Refusal> {
        let devices = self.resolve_devices(&settings.devices)?;
        let name = self.choose_name(settings.name.as_deref())?;
        let number = TenantId(self.next_tenant);
        let id = format!("{name}-{}", random_suffix());
        let plan = Plan { number, id, name, settings, devices, origin };
        self.admit(&plan, false)?;
        self.next_tenant += 1;
        let directory = self.runtime_dir.join("tenants").join(&plan.id);
        match self.build(plan, false) {
            Ok(()) => Ok(number),
            Err(error) => {
                self.release_rows(number);
                remove_directory(&directory);
                Err(Refusal(format!("the tenant can't be set up: {error}")))
            }
        }
    }

    fn choose_name(&self, wish: Option<&str>) -> Result<String, Refusal> {
        let Some(name) = wish else { return Ok(format!("tenant-{}", self.next_tenant)) };
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if name.is_empty() || name.len() > 40 || !name.bytes().all(fits) || name.starts_with('.') {
            return Err(Refusal(format!(
                "name \"{name}\" is not possible: 1 to 40 letters, digits, dots, dashes and underscores, not starting \
                 with a dot"
            )));
        }
        if self.tenants.values().any(|t| t.name == name) {
            return Err(Refusal(format!("name \"{name}\" is taken by a running tenant")));
        }
        Ok(name.to_owned())
    }

    /// Devices by UUID or by index; none named = the first.
    pub(super) fn resolve_devices(&self, named: &[String]) -> Result<Vec<usize>, Refusal> {
        if named.is_empty() {
            return Ok(vec![0]);
        }
        let mut found = Vec::new();
        for text in named {
            let index = self.resolve_device(text)?;
            if found.contains(&index) {
                return Err(Refusal(format!("device \"{text}\" is named twice")));
            }
            found.push(index);
        }
        if found.len() > MAX_DEVICES {
            return Err(Refusal(format!("{} devices are named: a tenant may have 1 to {MAX_DEVICES}", found.len())));
        }
        Ok(found)
    }

    pub(super) fn resolve_device(&self, text: &str) -> Result<usize, Refusal> {
        let by_uuid = self.devices.iter().position(|d| d.uuid == text);
        let by_index = || text.parse().ok().filter(|i: &usize| *i < self.devices.len());
        by_uuid.or_else(by_index).ok_or_else(|| {
            let all: Vec<String> = self.devices.iter().enumerate().map(|(i, d)| format!("{i} = {}", d.uuid)).collect();
            Refusal(format!("device \"{text}\" is unknown: the devices are {}", all.join(", ")))
        })
    }

    /// Asks each device first, then joins all. A restored tenant meets the policy that its devices had.
    pub(super) fn admit(&mut self, plan: &Plan, restored: bool) -> Result<(), Refusal> {
        let asked = per_device(&plan.settings, plan.devices.len())?;
        let requests: Vec<Request> = plan
            .devices
            .iter()
            .map(|device| &self.devices[*device])
            .map(|d| d.admission.policy().or(d.recorded_policy))
            .map(|policy| if restored { Request { policy, ..asked } } else { asked })
            .collect();
        for (device, request) in plan.devices.iter().zip(&requests) {
            self.devices[*device].admission.check(request)?;
        }
        for (done, (device, request)) in plan.devices.iter().zip(&requests).enumerate() {
            let before = self.devices[*device].admission.policy();
            if let Err(refusal) = self.devices[*device].admission.admit(plan.number, request) {
                for device in plan.devices.iter().take(done) {
                    self.devices[*device].admission.release(plan.number);
                }
                return Err(refusal);
            }
            self.follow_policy(*device, before);
        }
        Ok(())
    }

    /// Tells the engine if a register's policy has changed.
    pub(super) fn follow_policy(&mut self, device: usize, before: Option<mgpu_coordinator_core::PolicyKind>) {
        let target = &self.devices[device];
        let Some(policy) = target.admission.policy() else { return };
        if before != Some(policy) && target.engine.policy() != policy {
            info!(device = %target.uuid, %policy, "policy");
            self.drive(device, Event::PolicyChanged { policy });
        }
    }

    /// Directory, pages, listener. `restored`: under an earlier daemon it stood already.
    pub(super) fn build(&mut self, plan: Plan, restored: bool) -> Result<(), Box<dyn std::error::Error>> {
        let directory = self.runtime_dir.join("tenants").join(&plan.id);
        own_directory(&directory, if self.user { 0o700 } else { 0o755 })?;
        crash::point("tenant-directory");
        write_by_rename(&directory.join("entitlement"), &self.entitlement_text(&plan), 0o644)?;
        crash::point("tenant-entitlement");
        let listener = listen(&directory.join("socket"), SocketType::SEQPACKET, if self.user { 0o600 } else { 0o666 })?;
        crash::point("tenant-listener");
        let listener_token = self.watch(&listener, Source::Listener(plan.number))?;
        let bell = Bell::make()?;
        let bell_token = self.poller.add_bell(&bell)?;
        self.sources.insert(bell_token, Source::Bell(plan.number));
        let keeper = match &plan.origin {
            Origin::Process(process) => self.watch_process(*process, Source::Keeper(plan.number)),
            Origin::Declared { .. } => None,
        };
        let pages = Pages::make(self.epoch, plan.devices.len())?;
        let mut tenant = Tenant {
            number: plan.number,
            memories: plan.devices.iter().map(|_| Memory::default()).collect(),
            books: self.books(plan.number, &plan.devices),
            id: plan.id,
            name: plan.name,
            settings: plan.settings,
            devices: plan.devices,
            origin: plan.origin,
            keeper,
            made: clock::now(),
            directory,
            listener: (listener, listener_token),
            connects: Meter::new(CONNECTS),
            pages,
            bell: Bell::new(bell, bell_token),
            connections: std::collections::BTreeMap::new(),
            ghosts: Vec::new(),
            asked: 0,
            held: Vec::new(),
            joined: false,
            had_client: restored,
            settling_until: None,
            next_beat: None,
            slot_epoch: 0,
        };
        for (index, device) in tenant.devices.iter().enumerate() {
            if let Some(line) = tenant.grant_line(index) {
                line.total.store(self.devices[*device].facts.total.0, Ordering::Relaxed);
            }
        }
        tenant.publish();
        info!(tenant = %tenant.name, id = %tenant.id, number = plan.number.0, restored, "tenant");
        self.tenants.insert(plan.number, tenant);
        self.idle_since = None;
        self.persist.had_tenant = true;
        if !restored {
            self.join_engines(plan.number, false);
        }
        Ok(())
    }

    pub(super) fn watch_process(
        &mut self,
        process: ProcessId,
        source: Source,
    ) -> Option<(std::os::fd::OwnedFd, crate::poller::Token)> {
        let fd = process::pidfd_of(process)?;
        let token = self.watch(&fd, source).ok()?;
        Some((fd, token))
    }

    fn books(&self, number: TenantId, devices: &[usize]) -> Vec<Books> {
        let row = |device: &usize| self.devices[*device].admission.row(number).copied().unwrap_or_default();
        let limits = devices.iter().map(|d| limit_word(&row(d)));
        limits.enumerate().map(|(line, limit)| Books::new(line, limit, self.config.lease_chunk.0.0)).collect()
    }

    pub(super) fn entitlement_text(&self, plan: &Plan) -> String {
        let row = |device: &usize| self.devices[*device].admission.row(plan.number).and_then(|row| row.memory);
        EntitlementFile {
            tenant: plan.name.clone(),
            devices: plan.devices.iter().map(|d| (self.devices[*d].facts.uuid, row(d))).collect(),
            closed_without_coordinator: self.config.without_coordinator == Without::Closed,
        }
        .to_text()
    }

    /// The process that a tenant was made for has died.
    pub(super) fn on_keeper_death(&mut self, number: TenantId) {
        let Some((fd, token)) = self.tenants.get_mut(&number).and_then(|t| t.keeper.take()) else { return };
        self.unwatch(&fd, token);
    }

    /// Removes tenants that nobody keeps.
    pub(super) fn end_tenants(&mut self, now: Nanos) {
        let over: Vec<TenantId> = self.tenants.values().filter(|t| t.is_over(now)).map(|t| t.number).collect();
        for number in over {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.remove(&number) else { return };
        info!(tenant = %tenant.name, id = %tenant.id, "tenant gone");
        self.unwatch(&tenant.listener.0, tenant.listener.1);
        self.unwatch(&tenant.bell.fd, tenant.bell.token);
        for (token, connection) in tenant.connections {
            self.unwatch(&connection.socket, token);
            if let Some((fd, death)) = connection.pidfd {
                self.unwatch(&fd, death);
            }
        }
        for device in tenant.devices {
            self.drive(device, Event::TenantLeft { tenant: number });
        }
        self.release_rows(number);
        remove_directory(&tenant.directory);
        if self.tenants.is_empty() {
            self.idle_since = Some(clock::now());
        }
        self.save_now();
    }

    /// Its rows, and what was watched for it when it could not be built: those descriptors have been closed.
    pub(super) fn release_rows(&mut self, number: TenantId) {
        let of_it = |source: &Source| matches!(source, Source::Listener(n) | Source::Bell(n) | Source::Keeper(n) if *n == number);
        self.sources.retain(|_, source| !of_it(source));
        for device in &mut self.devices {
            device.admission.release(number);
        }
    }
}

/// What `settings` ask of each of `devices` devices.
///
/// # Errors
/// A word that is none, a number out of range, or a total that does not divide.
pub(super) fn per_device(settings: &Settings, devices: usize) -> Result<Request, Refusal> {
    let refuse = |e: mgpu_protocol::units::ParseError| Refusal(e.0);
    let totals = Request {
        memory: settings.memory.map(Bytes),
        share: settings.share,
        class: settings.class.as_deref().map(str::parse).transpose().map_err(refuse)?,
        weight: settings.weight,
        policy: settings.policy.as_deref().map(str::parse).transpose().map_err(refuse)?,
    };
    admission::divide(&totals, u32::try_from(devices).unwrap_or(u32::MAX))
}

/// Words for people: `a, b`, or that there are none.
pub(super) fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Removes what a tenant's directory holds by our hand, and the directory if nothing else is in it.
pub(super) fn remove_directory(path: &Path) {
    for name in ["socket", "entitlement", "socket.new", "entitlement.new"] {
        let _ = fs::remove_file(path.join(name));
    }
    if let Err(error) = fs::remove_dir(path) {
        warn!(path = %path.display(), %error, "a tenant's directory stays");
    }
}

pub(super) fn limit_word(row: &Entitlement) -> u64 {
    row.memory.map_or(u64::MAX, |bytes| bytes.0)
}

/// Makes an id that nobody can guess and that is never used twice.
fn random_suffix() -> String {
    let mut bytes = [0_u8; 6];
    if let Ok(mut file) = fs::File::open("/dev/urandom") {
        let _ = std::io::Read::read_exact(&mut file, &mut bytes);
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

//! After a restart: the last daemon's tenants, its clients that may come back, and what they may still hold.

use std::fs;

use mgpu_coordinator_core::TenantId;
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::units::Nanos;
use tracing::{error, info};

use super::tenants::{Plan, remove_directory};
use super::{Daemon, Source};
use crate::clock;
use crate::process;
use crate::state::{State, TenantState};
use crate::tenant::{Ghost, Phase};

/// Clients of the last daemon come back within this (they reconnect at once, then each second at most).
const SETTLING: Nanos = Nanos::from_millis(1_500);

impl Daemon {
    /// Restores a tenant of an earlier daemon.
    ///
    /// # Errors
    /// It does not fit any more (device gone, configuration changed), or its directory can't be used.
    pub(super) fn restore(
        &mut self,
        saved: &TenantState,
        devices: Vec<usize>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let number = TenantId(saved.number);
        let plan = Plan {
            number,
            id: saved.id.clone(),
            name: saved.name.clone(),
            settings: saved.settings.clone(),
            devices,
            origin: saved.origin.clone(),
        };
        self.admit(&plan, true)?;
        if let Err(error) = self.build(plan, true) {
            self.release_rows(number);
            return Err(error);
        }
        let now = clock::now();
        let mut ghosts = Vec::new();
        for client in &saved.clients {
            let mut bytes = [0; MAX_DEVICES];
            for (place, given) in bytes.iter_mut().zip(&client.given) {
                *place = *given;
            }
            let phase = match self.watch_process(client.process, Source::GhostDeath(number)) {
                Some(watched) => Phase::Absent(Some(watched)),
                None => Phase::Gone(now),
            };
            // It was here long before us.
            ghosts.push(Ghost { process: client.process, attached: Nanos(0), bytes, phase });
        }
        let Some(tenant) = self.tenants.get_mut(&number) else { return Ok(()) };
        tenant.ghosts = ghosts;
        tenant.publish();
        if tenant.is_settling() {
            tenant.settling_until = Some(now.plus(SETTLING));
            for books in &mut tenant.books {
                books.set_floor(books.charged());
            }
        } else {
            self.join_engines(number, false);
        }
        self.audit_soon();
        Ok(())
    }

    /// Restores the tenants of the last daemon and removes directories that belong to none.
    pub(super) fn restore_all(&mut self, saved: Option<&State>) {
        for tenant in saved.map(|s| s.tenants.as_slice()).unwrap_or_default() {
            let index = |uuid: &String| self.devices.iter().position(|d| d.uuid == *uuid);
            let devices: Option<Vec<usize>> = tenant.devices.iter().map(index).collect();
            let result = match devices {
                Some(devices) => self.restore(tenant, devices),
                None => Err("one of its devices has gone".into()),
            };
            if let Err(error) = result {
                error!(tenant = %tenant.name, %error, "a tenant of the last daemon can't be kept; its clients go on without one");
            }
        }
        let Ok(entries) = fs::read_dir(self.runtime_dir.join("tenants")) else { return };
        for entry in entries.flatten() {
            if !self.tenants.values().any(|t| entry.file_name().to_str() == Some(&t.id)) {
                info!(path = %entry.path().display(), "a directory of no tenant is removed");
                remove_directory(&entry.path());
            }
        }
    }
}

/// Tenants by device whose clients of the last daemon may still have work there.
pub(super) fn expected_by_device(saved: &State) -> Vec<(String, TenantId)> {
    let alive = |t: &&TenantState| t.clients.iter().any(|c| process::pidfd_of(c.process).is_some());
    let tenants = saved.tenants.iter().filter(alive);
    tenants.flat_map(|t| t.devices.iter().map(|d| (d.clone(), TenantId(t.number)))).collect()
}

//! `mgpu set`: a running tenant's row and a device's policy and hold change, or nothing does.

use mgpu_coordinator_core::{Event, Refusal, Request, TenantId};
use mgpu_protocol::control::Settings;
use mgpu_protocol::units::{Nanos, ParseError};
use tracing::{info, warn};

use super::Daemon;
use super::tenants::{Plan, limit_word, listed, per_device};
use crate::runtime_dir::write_by_rename;

/// Bounds of hold by `mgpu set --device --hold`.
const MAX_HOLD_MS: u32 = 60_000;

impl Daemon {
    /// `mgpu set TENANT`: only what is named changes.
    ///
    /// # Errors
    /// As [`Self::create`]; nothing has changed then.
    pub(super) fn change(&mut self, which: &str, wish: &Settings) -> Result<(), Refusal> {
        if wish.name.is_some() || wish.policy.is_some() || !wish.devices.is_empty() {
            return Err(Refusal(
                "a running tenant's name, devices and policy don't change: share, memory, class and weight do (the policy \
                 is the device's: mgpu set --device)"
                    .to_owned(),
            ));
        }
        let by_name = self.tenants.values().find(|t| t.name == which || t.id == which).map(|t| t.number);
        let number = by_name.ok_or_else(|| {
            let names: Vec<&str> = self.tenants.values().map(|t| t.name.as_str()).collect();
            Refusal(format!("tenant \"{which}\" is unknown: the tenants are {}", listed(&names)))
        })?;
        let devices = self.tenants.get(&number).map(|t| t.devices.clone()).unwrap_or_default();
        let request = per_device(wish, devices.len())?;
        self.change_rows(number, &devices, &request)?;
        self.spread_change(number, &devices, wish);
        Ok(())
    }

    fn change_rows(&mut self, number: TenantId, devices: &[usize], request: &Request) -> Result<(), Refusal> {
        for device in devices {
            self.devices[*device].admission.check_change(number, request)?;
        }
        for device in devices {
            self.devices[*device].admission.change(number, request)?;
        }
        Ok(())
    }

    fn spread_change(&mut self, number: TenantId, devices: &[usize], wish: &Settings) {
        for (index, device) in devices.iter().enumerate() {
            let Some(entitlement) = self.devices[*device].admission.row(number).copied() else { continue };
            if let Some(tenant) = self.tenants.get_mut(&number)
                && let Some(books) = tenant.books.get_mut(index)
            {
                books.set_limit(limit_word(&entitlement), &tenant.pages.tenant.slots);
                tenant.publish();
            }
            if self.tenants.get(&number).is_some_and(|t| t.joined) {
                self.drive(*device, Event::TenantChanged { tenant: number, entitlement });
            }
        }
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let settings = &mut tenant.settings;
        settings.memory = wish.memory.or(settings.memory);
        settings.share = wish.share.or(settings.share);
        settings.class = wish.class.clone().or_else(|| settings.class.take());
        settings.weight = wish.weight.or(settings.weight);
        info!(tenant = %tenant.name, settings = ?tenant.settings, "changed");
        let plan = Plan {
            number,
            id: tenant.id.clone(),
            name: tenant.name.clone(),
            settings: tenant.settings.clone(),
            devices: tenant.devices.clone(),
            origin: tenant.origin.clone(),
        };
        let path = tenant.directory.join("entitlement");
        if let Err(error) = write_by_rename(&path, &self.entitlement_text(&plan), 0o644) {
            warn!(path = %path.display(), %error, "the entitlement file keeps the old limit");
        }
    }

    /// `mgpu set --device`.
    ///
    /// # Errors
    /// An unknown device or policy, a policy that its tenants' rows don't fit, a hold out of range.
    pub(super) fn change_device(
        &mut self,
        text: &str,
        policy: Option<&str>,
        hold_ms: Option<u32>,
    ) -> Result<(), Refusal> {
        let device = self.resolve_device(text)?;
        let policy = policy.map(str::parse).transpose().map_err(|e: ParseError| Refusal(e.0))?;
        if let Some(hold) = hold_ms.filter(|ms| *ms > MAX_HOLD_MS) {
            return Err(Refusal(format!("hold {hold} ms is out of range: 0 to {MAX_HOLD_MS} ms")));
        }
        if let Some(policy) = policy {
            let before = self.devices[device].admission.policy();
            self.devices[device].admission.set_policy(policy)?;
            self.devices[device].operator_policy = Some(policy);
            self.follow_policy(device, before);
        }
        if let Some(hold) = hold_ms {
            self.devices[device].operator_hold = Some(Nanos::from_millis(hold.into()));
            let settings = self.devices[device].settings(&self.config);
            info!(device = %self.devices[device].uuid, hold_ms = hold, "hold");
            self.drive(device, Event::SettingsChanged { settings });
        }
        Ok(())
    }
}

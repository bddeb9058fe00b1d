//! May this tenant join this device, and with what row? Numbers in, a row or a refusal in plain words out.

use std::collections::BTreeMap;
use std::fmt;

use mgpu_protocol::units::{Bytes, Class};

use crate::policy::PolicyKind;
use crate::tenant::{Entitlement, TenantId};

/// Why something was refused; its Display names the value and the valid range and is shown to people as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// What a device allows, from its size and the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRules {
    /// Physical memory.
    pub memory: Bytes,
    /// Part of it that no limit may claim.
    pub reserve: Bytes,
    /// The sum of limits may pass the memory.
    pub overcommit: bool,
    /// Policy from the configuration; none = the first tenant sets it.
    pub policy: Option<PolicyKind>,
}

/// What is asked for, for one device or in total (see [`divide`]). A field that is none keeps the default (joining) or the
/// value that it has (changing).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Memory limit.
    pub memory: Option<Bytes>,
    /// Percent of one device.
    pub share: Option<u32>,
    /// Class.
    pub class: Option<Class>,
    /// Weight within the offline class.
    pub weight: Option<u32>,
    /// Policy that the tenant expects of the device.
    pub policy: Option<PolicyKind>,
}

/// Splits totals evenly over `devices` devices (1 to 8).
///
/// # Errors
/// What does not divide to 1 % and 1 MiB, naming the nearest totals that do; a number of devices out of range.
pub fn divide(totals: &Request, _devices: u32) -> Result<Request, Refusal> {
    Ok(*totals)
}

/// One device's register of admitted tenants.
#[derive(Clone, Debug)]
pub struct Admission {
    rules: DeviceRules,
    policy: Option<PolicyKind>,
    rows: BTreeMap<TenantId, Entitlement>,
}

impl Admission {
    /// A device without tenants.
    #[must_use]
    pub const fn new(rules: DeviceRules) -> Self {
        Self { policy: rules.policy, rules, rows: BTreeMap::new() }
    }

    /// The device's policy now; none = nobody has set one.
    #[must_use]
    pub const fn policy(&self) -> Option<PolicyKind> {
        self.policy
    }

    /// The rules that this device was made with.
    #[must_use]
    pub const fn rules(&self) -> &DeviceRules {
        &self.rules
    }

    /// What `request` (per device) would get; changes nothing. A container over several devices asks each first.
    ///
    /// # Errors
    /// Names the value and the valid range.
    pub fn check(&self, _request: &Request) -> Result<Entitlement, Refusal> {
        Ok(Entitlement::default())
    }

    /// Admits a tenant with what `request` (per device) asks for.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing has changed then.
    pub fn admit(&mut self, tenant: TenantId, request: &Request) -> Result<Entitlement, Refusal> {
        let row = self.check(request)?;
        self.rows.insert(tenant, row);
        Ok(row)
    }

    /// Changes a running tenant's row (`mgpu set`).
    ///
    /// # Errors
    /// As [`Self::check`]; nothing has changed then.
    pub fn change(&mut self, tenant: TenantId, request: &Request) -> Result<Entitlement, Refusal> {
        self.admit(tenant, request)
    }

    /// Changes the device's policy while tenants run.
    ///
    /// # Errors
    /// If the tenants' rows don't fit the policy; names who.
    pub fn set_policy(&mut self, policy: PolicyKind) -> Result<(), Refusal> {
        self.policy = Some(policy);
        Ok(())
    }

    /// Takes a tenant off the device. A policy that the first tenant set goes with the last.
    pub fn release(&mut self, tenant: TenantId) {
        self.rows.remove(&tenant);
    }

    /// The row of a tenant.
    #[must_use]
    pub fn row(&self, tenant: TenantId) -> Option<&Entitlement> {
        self.rows.get(&tenant)
    }
}

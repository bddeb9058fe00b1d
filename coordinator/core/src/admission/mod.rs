//! May this tenant join this device, and with what row? Numbers in, a row or a refusal in plain words out.
//!
//! Every refusal names the value that was asked for and the values that would do. Nothing changes on a refusal.

mod totals;

use std::collections::BTreeMap;
use std::fmt;

use mgpu_protocol::units::{Bytes, Class, MIB, MIN_MEMORY_PER_DEVICE, Percent};

pub use totals::{MAX_DEVICES, divide};

use crate::policy::PolicyKind;
use crate::tenant::{Entitlement, TenantId, Weight};

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
    /// Memory limit; a tenant without one is bounded by the device alone, and no limit is set aside for it.
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

/// Who set a device's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetBy {
    Configuration,
    Operator,
    FirstTenant,
}

/// One device's register of admitted tenants.
#[derive(Clone, Debug)]
pub struct Admission {
    rules: DeviceRules,
    policy: Option<(PolicyKind, SetBy)>,
    rows: BTreeMap<TenantId, Entitlement>,
}

impl Admission {
    /// A device without tenants.
    #[must_use]
    pub fn new(rules: DeviceRules) -> Self {
        let policy = rules.policy.map(|kind| (kind, SetBy::Configuration));
        Self { rules, policy, rows: BTreeMap::new() }
    }

    /// The device's policy now; none = nobody has set one.
    #[must_use]
    pub fn policy(&self) -> Option<PolicyKind> {
        self.policy.map(|(kind, _)| kind)
    }

    /// The rules that this device was made with.
    #[must_use]
    pub const fn rules(&self) -> &DeviceRules {
        &self.rules
    }

    /// The row of a tenant.
    #[must_use]
    pub fn row(&self, tenant: TenantId) -> Option<&Entitlement> {
        self.rows.get(&tenant)
    }

    /// All rows, by tenant.
    pub fn rows(&self) -> impl Iterator<Item = (TenantId, &Entitlement)> {
        self.rows.iter().map(|(id, row)| (*id, row))
    }

    /// What `request` (per device) would get; changes nothing. A container over several devices asks each first.
    ///
    /// # Errors
    /// Names the value and the valid range.
    pub fn check(&self, request: &Request) -> Result<Entitlement, Refusal> {
        self.judge(None, request).map(|(row, _)| row)
    }

    /// Admits a tenant with what `request` (per device) asks for.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing has changed then.
    pub fn admit(&mut self, tenant: TenantId, request: &Request) -> Result<Entitlement, Refusal> {
        let (row, policy) = self.judge(None, request)?;
        self.rows.insert(tenant, row);
        self.policy.get_or_insert((policy, SetBy::FirstTenant));
        Ok(row)
    }

    /// What [`Self::change`] would give; changes nothing.
    ///
    /// # Errors
    /// As [`Self::check`]; a tenant that this device doesn't have.
    pub fn check_change(&self, tenant: TenantId, request: &Request) -> Result<Entitlement, Refusal> {
        if !self.rows.contains_key(&tenant) {
            return Err(Refusal(format!("tenant {tenant} is not on this device")));
        }
        self.judge(Some(tenant), request).map(|(row, _)| row)
    }

    /// Changes a running tenant's row (`mgpu set`): limit, share, class, weight.
    ///
    /// # Errors
    /// As [`Self::check`]; a tenant that this device doesn't have. Nothing has changed then.
    pub fn change(&mut self, tenant: TenantId, request: &Request) -> Result<Entitlement, Refusal> {
        let row = self.check_change(tenant, request)?;
        self.rows.insert(tenant, row);
        Ok(row)
    }

    /// Changes the device's policy while tenants run; it then stays, as if it were configured.
    ///
    /// # Errors
    /// If the tenants' rows don't fit the policy; says what doesn't.
    pub fn set_policy(&mut self, policy: PolicyKind) -> Result<(), Refusal> {
        if policy.listed().needs_share {
            if let Some((id, _)) = self.online().find(|(_, row)| row.share.is_none()) {
                return Err(Refusal(format!(
                    "policy {policy} needs a share for every online tenant, and tenant {id} has none: give it one first"
                )));
            }
            let sum = self.shares_beside(None);
            if sum > 100 {
                return Err(Refusal(format!(
                    "policy {policy} needs shares that sum to 100 % at most, and they sum to {sum} %: lower some first"
                )));
            }
        }
        self.policy = Some((policy, SetBy::Operator));
        Ok(())
    }

    /// Takes a tenant off the device. A policy that the first tenant set goes with the last.
    pub fn release(&mut self, tenant: TenantId) {
        self.rows.remove(&tenant);
        if self.rows.is_empty() && matches!(self.policy, Some((_, SetBy::FirstTenant))) {
            self.policy = None;
        }
    }

    /// The row for a request: of a new tenant, or of one that has a row already.
    fn judge(&self, tenant: Option<TenantId>, request: &Request) -> Result<(Entitlement, PolicyKind), Refusal> {
        let had = tenant.and_then(|id| self.rows.get(&id)).copied().unwrap_or_default();
        let class = request.class.unwrap_or(had.class);
        let share = request.share.map(share).transpose()?.or(had.share);
        let weight = request.weight.map_or(Ok(had.weight), weight)?;
        let policy = self.judge_policy(request.policy, share)?;
        let memory = self.judge_memory(tenant, request.memory, had.memory)?;
        if policy.listed().needs_share && class == Class::Online {
            self.judge_share(tenant, policy, share)?;
        }
        Ok((Entitlement { memory, share, class, weight }, policy))
    }

    fn judge_policy(&self, asked: Option<PolicyKind>, share: Option<Percent>) -> Result<PolicyKind, Refusal> {
        match (self.policy, asked) {
            (Some((held, by)), Some(asked)) if held != asked => {
                let by = match by {
                    SetBy::Configuration => "from its configuration",
                    SetBy::Operator => "set by the operator",
                    SetBy::FirstTenant => "set by its first tenant",
                };
                Err(Refusal(format!("policy {asked} is not this device's: the device has policy {held}, {by}")))
            }
            (Some((held, _)), _) => Ok(held),
            (None, Some(asked)) => Ok(asked),
            (None, None) if share.is_some() => Ok(PolicyKind::FixedShare),
            (None, None) => Ok(PolicyKind::Fair),
        }
    }

    fn judge_share(&self, tenant: Option<TenantId>, policy: PolicyKind, share: Option<Percent>) -> Result<(), Refusal> {
        let left = 100_u32.saturating_sub(self.shares_beside(tenant));
        let Some(share) = share else {
            return Err(Refusal(format!(
                "no share given: an online tenant needs one on a device with policy {policy}; {}",
                left_text(left)
            )));
        };
        let asked = u32::from(share.get());
        if asked > left {
            return Err(Refusal(format!(
                "share {asked} is too much for this device: the shares of online tenants sum to 100 % at most; {}",
                left_text(left)
            )));
        }
        Ok(())
    }

    fn judge_memory(
        &self,
        tenant: Option<TenantId>,
        asked: Option<Bytes>,
        had: Option<Bytes>,
    ) -> Result<Option<Bytes>, Refusal> {
        let Some(asked) = asked else { return Ok(had) };
        let usable = Bytes(self.rules.memory.0.saturating_sub(self.rules.reserve.0) / MIB * MIB);
        if asked < MIN_MEMORY_PER_DEVICE || asked > usable {
            return Err(Refusal(format!(
                "memory {asked} is out of range: a tenant may have {MIN_MEMORY_PER_DEVICE} to {usable} of this device"
            )));
        }
        if asked.0 % MIB != 0 {
            let (below, above) = (asked.0 / MIB, asked.0.div_ceil(MIB));
            return Err(Refusal(format!(
                "memory {asked} is not a whole number of MiB for each device: the nearest are {below}MiB and {above}MiB"
            )));
        }
        let others = self.rows.iter().filter(|(id, _)| Some(**id) != tenant);
        let taken: u64 = others.filter_map(|(_, row)| row.memory).map(|memory| memory.0).sum();
        let left = usable.0.saturating_sub(taken);
        if asked.0 > left && !self.rules.overcommit {
            let left = if left < MIN_MEMORY_PER_DEVICE.0 {
                format!("{} is left, less than the least that a tenant may have ({MIN_MEMORY_PER_DEVICE})", Bytes(left))
            } else {
                format!("{} is left", Bytes(left))
            };
            return Err(Refusal(format!(
                "memory {asked} is too much for this device: limits may sum to {usable}, and {left} (overcommit is off)"
            )));
        }
        Ok(Some(asked))
    }

    fn online(&self) -> impl Iterator<Item = (TenantId, &Entitlement)> {
        self.rows().filter(|(_, row)| row.class == Class::Online)
    }

    /// Sum of online shares, without one tenant's.
    fn shares_beside(&self, tenant: Option<TenantId>) -> u32 {
        let others = self.online().filter(|(id, _)| Some(*id) != tenant);
        others.filter_map(|(_, row)| row.share).map(|share| u32::from(share.get())).sum()
    }
}

fn left_text(left: u32) -> String {
    if left == 0 { "nothing is left".to_owned() } else { format!("{left} % is left (1 to {left})") }
}

fn share(n: u32) -> Result<Percent, Refusal> {
    let percent = u8::try_from(n).ok().and_then(Percent::new);
    percent.ok_or_else(|| {
        Refusal(format!(
            "share {n} is out of range: a share is a whole percent of one device, 1 to 100 for each device"
        ))
    })
}

fn weight(n: u32) -> Result<Weight, Refusal> {
    Weight::new(n).ok_or_else(|| Refusal(format!("weight {n} is out of range: a weight is 1 to {}", Weight::MAX)))
}

#[cfg(test)]
mod tests;

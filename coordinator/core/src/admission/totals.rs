//! A container over several devices names totals; each device carries an even part of them, or it is refused.

use mgpu_protocol::units::{Bytes, MIB};

use super::{Refusal, Request};

/// Devices that one tenant may have (DESIGN §4).
pub const MAX_DEVICES: u32 = 8;

/// Splits totals evenly over `devices` devices. Class, weight and policy are the same on each.
///
/// # Errors
/// What does not divide to 1 % and 1 MiB, or passes 100 % a device, naming the nearest totals that do; a number of devices
/// out of range.
pub fn divide(totals: &Request, devices: u32) -> Result<Request, Refusal> {
    if !(1..=MAX_DEVICES).contains(&devices) {
        return Err(Refusal(format!("{devices} devices are out of range: a tenant may have 1 to {MAX_DEVICES}")));
    }
    let share = totals.share.map(|total| divide_share(total, devices)).transpose()?;
    let memory = totals.memory.map(|total| divide_memory(total, devices)).transpose()?;
    Ok(Request { share, memory, ..*totals })
}

fn divide_share(total: u32, devices: u32) -> Result<u32, Refusal> {
    if total < devices || total > 100 * devices {
        let range = format!("{devices} to {}", 100 * devices);
        let each = if devices == 1 {
            "1 to 100".to_owned()
        } else {
            format!("{range}, 1 to 100 for each of {devices} devices")
        };
        return Err(Refusal(format!(
            "share {total} is out of range: a share is a whole percent of one device, {each}"
        )));
    }
    if !total.is_multiple_of(devices) {
        let (below, above) = (total / devices * devices, total.div_ceil(devices) * devices);
        return Err(Refusal(format!(
            "share {total} does not divide evenly over {devices} devices: the nearest that do are {below} and {above}"
        )));
    }
    Ok(total / devices)
}

fn divide_memory(total: Bytes, devices: u32) -> Result<Bytes, Refusal> {
    let unit = MIB * u64::from(devices);
    if !total.0.is_multiple_of(unit) {
        // Both in MiB, so that they can be compared with what was asked.
        let each = u64::from(devices);
        let (below, above) = (total.0 / unit * each, (total.0 / unit).saturating_add(1).saturating_mul(each));
        let over =
            if devices == 1 { "into whole MiB".to_owned() } else { format!("over {devices} devices into whole MiB") };
        return Err(Refusal(format!(
            "memory {total} does not divide {over}: the nearest that do are {below}MiB and {above}MiB"
        )));
    }
    Ok(Bytes(total.0 / u64::from(devices)))
}

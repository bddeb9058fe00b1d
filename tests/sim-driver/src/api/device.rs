//! Devices: identity, capability, topology.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::attributes::{self, CAPABILITY, MAX_BLOCK, MAX_GRID};
use crate::context::{self, device};
use crate::error::{
    INVALID_DEVICE, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED, Res, put, put_if,
};
use crate::state::{Device, driver};
use crate::types::{
    CUcontext, CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUdevprop, CUexecAffinityType, CUuuid, raw, text,
};

pub(crate) unsafe fn cuDeviceGet(out: *mut CUdevice, ordinal: c_int) -> Res {
    device(driver()?, ordinal)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, ordinal) }
}

pub(crate) unsafe fn cuDeviceGetCount(count: *mut c_int) -> Res {
    let devices = c_int::try_from(driver()?.devices.len()).map_err(|_| INVALID_VALUE)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(count, devices) }
}

pub(crate) unsafe fn cuDeviceGetName(name: *mut c_char, length: c_int, dev: CUdevice) -> Res {
    let device = device(driver()?, dev)?;
    // SAFETY: the caller's buffer of `length` bytes.
    unsafe { put_text(name, length, &device.name) }
}

/// Writes a C string, cut to the buffer.
unsafe fn put_text(out: *mut c_char, length: c_int, value: &str) -> Res {
    let room = usize::try_from(length).ok().filter(|n| *n > 0 && !out.is_null()).ok_or(INVALID_VALUE)?;
    let cut = value.len().min(room - 1);
    // SAFETY: `cut` < `room`, and the caller promises `room` bytes.
    unsafe { out.cast::<u8>().copy_from_nonoverlapping(value.as_ptr(), cut) };
    // SAFETY: as above; the NUL is the last byte at most.
    unsafe { out.wrapping_add(cut).write(0) };
    Ok(())
}

pub(crate) unsafe fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) -> Res {
    let device = device(driver()?, dev)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(uuid, CUuuid { bytes: device.uuid }) }
}

pub(crate) unsafe fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) -> Res {
    // SAFETY: the same function.
    unsafe { cuDeviceGetUuid(uuid, dev) }
}

pub(crate) unsafe fn cuDeviceTotalMem(bytes: *mut c_uint, dev: CUdevice) -> Res {
    let total = device(driver()?, dev)?.memory;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(bytes, c_uint::try_from(total).unwrap_or(c_uint::MAX)) }
}

pub(crate) unsafe fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) -> Res {
    let total = device(driver()?, dev)?.memory;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(bytes, usize::try_from(total).unwrap_or(usize::MAX)) }
}

pub(crate) unsafe fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, dev: CUdevice) -> Res {
    let device = device(driver()?, dev)?;
    let number = i32::try_from(attribute).map_err(|_| INVALID_VALUE)?;
    let answer = match number {
        attributes::PCI_BUS => device.pci_bus,
        attributes::PCI_DEVICE => 0,
        attributes::PCI_DOMAIN => device.pci_domain,
        _ => attributes::value(number).ok_or(INVALID_VALUE)?,
    };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(value, answer) }
}

pub(crate) unsafe fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    let attribute = |number| attributes::value(number).unwrap_or(0);
    let signed = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
    let properties = CUdevprop {
        maxThreadsPerBlock: attribute(1),
        maxThreadsDim: MAX_BLOCK.map(signed),
        maxGridSize: MAX_GRID.map(signed),
        sharedMemPerBlock: attribute(8),
        totalConstantMemory: attribute(9),
        SIMDWidth: attribute(10),
        memPitch: attribute(11),
        regsPerBlock: attribute(12),
        clockRate: attribute(13),
        textureAlign: attribute(14),
    };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(prop, properties) }
}

pub(crate) unsafe fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(major, CAPABILITY.0) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(minor, CAPABILITY.1) }
}

pub(crate) unsafe fn cuDeviceGetExecAffinitySupport(
    value: *mut c_int,
    _type: CUexecAffinityType,
    dev: CUdevice,
) -> Res {
    device(driver()?, dev)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(value, 0) }
}

fn pci_text(device: &Device) -> String {
    format!("{:04x}:{:02x}:00.0", device.pci_domain, device.pci_bus)
}

pub(crate) unsafe fn cuDeviceGetPCIBusId(out: *mut c_char, length: c_int, dev: CUdevice) -> Res {
    let device = device(driver()?, dev)?;
    // SAFETY: the caller's buffer of `length` bytes.
    unsafe { put_text(out, length, &pci_text(device)) }
}

pub(crate) unsafe fn cuDeviceGetByPCIBusId(out: *mut CUdevice, id: *const c_char) -> Res {
    let driver = driver()?;
    // SAFETY: the caller's string.
    let id = unsafe { text(id) }?.to_ascii_lowercase();
    let same = |d: &Device| {
        let full = pci_text(d);
        // [domain]:bus:device.function, with a domain of 4 or 8 digits, or bus:device(.function)
        full == id
            || id.strip_prefix("0000").is_some_and(|rest| rest == full)
            || full.get(5..) == Some(&id)
            || full.get(5..10) == Some(&id)
    };
    let index = driver.devices.iter().position(same).ok_or(INVALID_DEVICE)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_int::try_from(index).unwrap_or(0)) }
}

pub(crate) unsafe fn cuDeviceCanAccessPeer(can: *mut c_int, dev: CUdevice, peer: CUdevice) -> Res {
    let driver = driver()?;
    device(driver, dev)?;
    device(driver, peer)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(can, c_int::from(dev != peer)) }
}

pub(crate) unsafe fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    attribute: CUdevice_P2PAttribute,
    source: CUdevice,
    destination: CUdevice,
) -> Res {
    let driver = driver()?;
    device(driver, source)?;
    device(driver, destination)?;
    if source == destination {
        return Err(INVALID_DEVICE);
    }
    // Rank 0, access, native atomics, arrays.
    let answer = match attribute {
        1 => 0,
        2..=4 => 1,
        _ => return Err(INVALID_VALUE),
    };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(value, answer) }
}

pub(crate) unsafe fn cuDeviceGetLuid(luid: *mut c_char, mask: *mut c_uint, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    // SAFETY: the caller's buffer of 8 bytes, or null.
    unsafe { put_if(luid.cast::<[u8; 8]>(), [0; 8]) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(mask, 0) };
    Ok(())
}

pub(crate) unsafe fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint) -> Res {
    let (current, bit) = peer_bit(peer)?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    let before = current.peers.fetch_or(bit, Ordering::Relaxed);
    if before & bit == 0 { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
}

pub(crate) unsafe fn cuCtxDisablePeerAccess(peer: CUcontext) -> Res {
    let (current, bit) = peer_bit(peer)?;
    let before = current.peers.fetch_and(!bit, Ordering::Relaxed);
    if before & bit == 0 { Err(PEER_ACCESS_NOT_ENABLED) } else { Ok(()) }
}

fn peer_bit(peer: CUcontext) -> Res<(&'static context::Context, u64)> {
    let current = context::current()?;
    let peer = context::find(raw(peer))?;
    let ordinal = peer.ordinal.load(Ordering::Relaxed);
    if ordinal == current.ordinal.load(Ordering::Relaxed) {
        return Err(INVALID_DEVICE);
    }
    Ok((current, 1_u64.checked_shl(u32::try_from(ordinal).unwrap_or(0)).unwrap_or(0)))
}

//! Messages of the session socket (SOCK_SEQPACKET, one message a packet), fixed little-endian fields, no allocation, so
//! that a hook can send one. Descriptors travel beside the packet (`SCM_RIGHTS`), their order is part of the message's text.
//!
//! Decoding never panics and never trusts a count; a packet of another size or kind is an error, not a guess.

use crate::units::DeviceUuid;
use crate::{PAGE_VERSION, PROTOCOL_VERSION, layout::MAX_DEVICES};

/// Largest packet of either direction.
pub const MAX_PACKET: usize = 512;

/// What a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// First packet of a connection.
    Hello(Hello),
    /// "Give me at least `bytes` more on `device`" – sent when the lease word is short. Answered by [`Reply::Lease`].
    Lease {
        /// Index in the grants page.
        device: u32,
        /// Bytes wanted now.
        bytes: u64,
    },
    /// "The marks that you asked for stand": answer to [`Reply::MarkTails`]; `marked` streams got one (0 during a capture).
    TailsMarked {
        /// Streams that were marked.
        marked: u32,
    },
    /// After a re-attach: what this client had in use under the previous daemon, per device. Sent once, right after Welcome.
    Carry {
        /// Bytes in use (allocated and not freed), by device index.
        used: [u64; MAX_DEVICES],
    },
}

/// Who connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Lowest and highest protocol version that the shim speaks.
    pub protocol: (u16, u16),
    /// Lowest and highest page version that the shim reads.
    pub page: (u16, u16),
    /// The client's pid as it sees itself (a label; identity is the socket and `SO_PEERCRED`).
    pub pid: u32,
    /// Version of the shim, e.g. 0.1.0 as (0, 1, 0).
    pub shim: (u16, u16, u16),
    /// CUDA driver version as `cuDriverGetVersion` gives it, 0 if not asked yet.
    pub driver: u32,
    /// Devices that this process sees, in the order of its ordinals.
    pub device_count: u32,
    /// Their UUIDs; entries from `device_count` on are zero.
    pub devices: [DeviceUuid; MAX_DEVICES],
    /// Epoch of the daemon that this client was attached to before; `u64::MAX`: of none, but it may hold memory; 0: neither. A
    /// [`Request::Carry`] follows the welcome unless it is 0.
    pub previous_daemon: u64,
}

/// What the coordinator sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Accepted. Descriptors: grants page, tenant page, want eventfd.
    Welcome(Welcome),
    /// Not accepted; the connection closes. The shim logs it and goes on as without a coordinator.
    Refused {
        /// Why.
        reason: Refusal,
        /// The coordinator's protocol version, for the message.
        protocol: u16,
        /// The coordinator's page version, for the message.
        page: u16,
    },
    /// Answer to [`Request::Lease`]: `given` bytes were added to the lease word (0 = refused: out of memory).
    Lease {
        /// Index in the grants page.
        device: u32,
        /// Bytes added.
        given: u64,
    },
    /// "Put markers behind the unmarked tails of your streams on `device`"; not an answer, may come at any time.
    MarkTails {
        /// Index in the grants page.
        device: u32,
    },
}

/// What a client needs to know to use the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Protocol version to speak from now on.
    pub protocol: u16,
    /// Layout of the two pages.
    pub page: u16,
    /// This client's slot in the tenant page.
    pub slot: u32,
    /// Epoch of that slot.
    pub slot_epoch: u32,
    /// Incarnation of the daemon.
    pub daemon_epoch: u64,
    /// Devices of this tenant; `devices[i]` has line `i` of the grants page.
    pub device_count: u32,
    /// Their UUIDs.
    pub devices: [DeviceUuid; MAX_DEVICES],
}

/// Why a hello was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No common version.
    Version = 1,
    /// The tenant's page has no free slot.
    Full = 2,
    /// The process sees none of the tenant's devices.
    Device = 3,
    /// The daemon is stopping.
    Stopping = 4,
    /// The hello made no sense.
    Malformed = 5,
}

impl Refusal {
    fn from_code(code: u16) -> Option<Self> {
        [Self::Version, Self::Full, Self::Device, Self::Stopping, Self::Malformed]
            .into_iter()
            .find(|r| *r as u16 == code)
    }
}

impl Hello {
    /// A hello that offers exactly this build's versions.
    #[must_use]
    pub const fn new(pid: u32) -> Self {
        Self {
            protocol: (PROTOCOL_VERSION, PROTOCOL_VERSION),
            page: (PAGE_VERSION, PAGE_VERSION),
            pid,
            shim: (0, 0, 0),
            driver: 0,
            device_count: 0,
            devices: [DeviceUuid([0; 16]); MAX_DEVICES],
            previous_daemon: 0,
        }
    }
}

/// A packet under construction or in hand.
#[derive(Clone, Copy)]
pub struct Packet {
    bytes: [u8; MAX_PACKET],
    len: usize,
}

impl Packet {
    /// The bytes to send.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    fn start(kind: u16) -> Self {
        let mut packet = Self { bytes: [0; MAX_PACKET], len: 0 };
        packet.put(&kind.to_le_bytes());
        packet
    }

    fn put(&mut self, field: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + field.len()) {
            room.copy_from_slice(field);
            self.len += field.len();
        }
    }

    fn u16(mut self, n: u16) -> Self {
        self.put(&n.to_le_bytes());
        self
    }
    fn u32(mut self, n: u32) -> Self {
        self.put(&n.to_le_bytes());
        self
    }
    fn u64(mut self, n: u64) -> Self {
        self.put(&n.to_le_bytes());
        self
    }
    fn uuids(mut self, uuids: &[DeviceUuid; MAX_DEVICES]) -> Self {
        for uuid in uuids {
            self.put(&uuid.0);
        }
        self
    }
}

/// Reads fields off a packet; `None` from any of them means "too short".
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    fn uuids(&mut self) -> Option<[DeviceUuid; MAX_DEVICES]> {
        let mut out = [DeviceUuid::default(); MAX_DEVICES];
        for uuid in &mut out {
            *uuid = DeviceUuid(self.take()?);
        }
        Some(out)
    }
    fn device_count(&mut self) -> Option<u32> {
        self.u32().filter(|n| usize::try_from(*n).is_ok_and(|n| n <= MAX_DEVICES))
    }
    /// The value, if nothing is left over.
    fn end<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

const HELLO: u16 = 1;
const LEASE: u16 = 2;
const TAILS_MARKED: u16 = 3;
const CARRY: u16 = 4;
const WELCOME: u16 = 65;
const REFUSED: u16 = 66;
const LEASE_GIVEN: u16 = 67;
const MARK_TAILS: u16 = 68;

impl Request {
    /// The packet for this request.
    #[must_use]
    pub fn encode(&self) -> Packet {
        match self {
            Self::Hello(h) => Packet::start(HELLO)
                .u16(h.protocol.0)
                .u16(h.protocol.1)
                .u16(h.page.0)
                .u16(h.page.1)
                .u32(h.pid)
                .u16(h.shim.0)
                .u16(h.shim.1)
                .u16(h.shim.2)
                .u32(h.driver)
                .u32(h.device_count)
                .uuids(&h.devices)
                .u64(h.previous_daemon),
            Self::Lease { device, bytes } => Packet::start(LEASE).u32(*device).u64(*bytes),
            Self::TailsMarked { marked } => Packet::start(TAILS_MARKED).u32(*marked),
            Self::Carry { used } => used.iter().fold(Packet::start(CARRY), |packet, n| packet.u64(*n)),
        }
    }

    /// Reads a request; `None` if it is none of this version.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader(bytes);
        let request = match r.u16()? {
            HELLO => Self::Hello(Hello {
                protocol: (r.u16()?, r.u16()?),
                page: (r.u16()?, r.u16()?),
                pid: r.u32()?,
                shim: (r.u16()?, r.u16()?, r.u16()?),
                driver: r.u32()?,
                device_count: r.device_count()?,
                devices: r.uuids()?,
                previous_daemon: r.u64()?,
            }),
            LEASE => Self::Lease { device: r.u32()?, bytes: r.u64()? },
            TAILS_MARKED => Self::TailsMarked { marked: r.u32()? },
            CARRY => {
                let mut used = [0; MAX_DEVICES];
                for n in &mut used {
                    *n = r.u64()?;
                }
                Self::Carry { used }
            }
            _ => return None,
        };
        r.end(request)
    }
}

impl Reply {
    /// The packet for this reply.
    #[must_use]
    pub fn encode(&self) -> Packet {
        match self {
            Self::Welcome(w) => Packet::start(WELCOME)
                .u16(w.protocol)
                .u16(w.page)
                .u32(w.slot)
                .u32(w.slot_epoch)
                .u64(w.daemon_epoch)
                .u32(w.device_count)
                .uuids(&w.devices),
            Self::Refused { reason, protocol, page } => {
                Packet::start(REFUSED).u16(*reason as u16).u16(*protocol).u16(*page)
            }
            Self::Lease { device, given } => Packet::start(LEASE_GIVEN).u32(*device).u64(*given),
            Self::MarkTails { device } => Packet::start(MARK_TAILS).u32(*device),
        }
    }

    /// Reads a reply; `None` if it is none of this version.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader(bytes);
        let reply = match r.u16()? {
            WELCOME => Self::Welcome(Welcome {
                protocol: r.u16()?,
                page: r.u16()?,
                slot: r.u32()?,
                slot_epoch: r.u32()?,
                daemon_epoch: r.u64()?,
                device_count: r.device_count()?,
                devices: r.uuids()?,
            }),
            REFUSED => Self::Refused { reason: Refusal::from_code(r.u16()?)?, protocol: r.u16()?, page: r.u16()? },
            LEASE_GIVEN => Self::Lease { device: r.u32()?, given: r.u64()? },
            MARK_TAILS => Self::MarkTails { device: r.u32()? },
            _ => return None,
        };
        r.end(reply)
    }
}

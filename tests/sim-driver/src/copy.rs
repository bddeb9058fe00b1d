//! Copies and fills of any shape: what they need checked, staged and waited for.
//! The bytes themselves are moved by the server, when the model says so.

use mgpu_sim_link::{Direction, Op, Pitch};

use crate::error::{INVALID_VALUE, Res};
use crate::graph::{CopyParameters, Work};
use crate::memory;
use crate::staging;
use crate::state::driver;
use crate::stream::Stream;
use crate::submit::submit;

/// `height` × `depth` rows of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) dst: u64,
    pub(crate) src: u64,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    pub(crate) dst_pitch: Pitch,
    pub(crate) src_pitch: Pitch,
    pub(crate) direction: Direction,
}

/// What the caller may expect when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// The copy is complete (the calls without `Async`, unless both sides are on the device).
    Complete,
    /// It is queued; pageable memory was taken aside or waited for.
    Queued,
}

impl Copy {
    pub(crate) fn linear(dst: u64, src: u64, bytes: usize, direction: Direction) -> Self {
        let none = Pitch::default();
        Self { dst, src, width: bytes, height: 1, depth: 1, dst_pitch: none, src_pitch: none, direction }
    }

    /// Bytes from the first to the last that one side touches.
    fn extent(&self, pitch: Pitch) -> Res<usize> {
        let step = |count: usize, pitch: u64| usize::try_from(pitch).ok()?.checked_mul(count - 1);
        let rows = step(self.height, pitch.row).ok_or(INVALID_VALUE)?;
        let slices = step(self.depth, pitch.slice).ok_or(INVALID_VALUE)?;
        self.width.checked_add(rows).and_then(|n| n.checked_add(slices)).ok_or(INVALID_VALUE)
    }

    fn check(&self) -> Res {
        if matches!(self.direction, Direction::HostToDevice | Direction::DeviceToDevice | Direction::Peer) {
            memory::check(self.dst, self.extent(self.dst_pitch)?)?;
        }
        if matches!(self.direction, Direction::DeviceToHost | Direction::DeviceToDevice | Direction::Peer) {
            memory::check(self.src, self.extent(self.src_pitch)?)?;
        }
        if self.dst == 0 || self.src == 0 { Err(INVALID_VALUE) } else { Ok(()) }
    }

    /// The link's form of it.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for sizes beyond 32 bits of rows.
    pub(crate) fn op(&self) -> Res<Op> {
        Ok(Op::Copy {
            dst: self.dst,
            src: self.src,
            width: self.width as u64,
            height: u32::try_from(self.height).map_err(|_| INVALID_VALUE)?,
            depth: u32::try_from(self.depth).map_err(|_| INVALID_VALUE)?,
            dst_pitch: self.dst_pitch,
            src_pitch: self.src_pitch,
            direction: self.direction,
        })
    }

    /// Queues the copy in `stream`.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for addresses outside of known memory; a capture's error for a synchronous copy in a
    /// capturing stream; those of the submission.
    ///
    /// # Safety
    /// Host sides are valid for the copy's extent until it is complete (pageable ones: until the call returns).
    pub(crate) unsafe fn run(&self, stream: &'static Stream, returns: Returns, given: Option<CopyParameters>) -> Res {
        if self.width == 0 || self.height == 0 || self.depth == 0 {
            return Ok(());
        }
        self.check()?;
        let driver = driver()?;
        let op = self.op()?;
        let captured = stream.capturing.load(std::sync::atomic::Ordering::Acquire) != 0;
        let from_host = matches!(self.direction, Direction::HostToDevice | Direction::HostToHost);
        let to_host = matches!(self.direction, Direction::DeviceToHost | Direction::HostToHost);
        if captured && returns == Returns::Complete {
            return Err(crate::capture::forbid(stream));
        }
        let work = move || Work::Copy(op, given.map(Box::new));
        let pageable_source = !captured && from_host && is_pageable(self.src);
        let linear = self.height == 1 && self.depth == 1;
        if returns == Returns::Queued && pageable_source && !to_host && linear && self.width <= staging::LIMIT {
            // SAFETY: as promised by the caller.
            return unsafe {
                staging::stage(stream, self.src as *const u8, self.width, |address| {
                    let op = Copy { src: address, ..*self }.op()?;
                    Ok(submit(driver, stream, driver.costs.copy_ns, &op, work)?.unwrap_or(0))
                })
            };
        }
        let ticket = submit(driver, stream, driver.costs.copy_ns, &op, work)?;
        let pageable = pageable_source || (to_host && !captured && is_pageable(self.dst));
        let wait = pageable
            || (returns == Returns::Complete && !matches!(self.direction, Direction::DeviceToDevice | Direction::Peer));
        match ticket {
            Some(ticket) if wait => Ok(driver.session.wait_ticket(stream.link(), ticket)?),
            _ => Ok(()),
        }
    }
}

fn is_pageable(address: u64) -> bool {
    usize::try_from(address).is_ok_and(memory::is_pageable)
}

/// Which way a copy between two unified addresses goes.
pub(crate) fn classify(dst: u64, src: u64) -> Direction {
    let device = |address: u64| {
        let range = usize::try_from(address).ok().and_then(memory::find);
        range.filter(|r| !r.is_host()).map(|r| r.ordinal)
    };
    match (device(dst), device(src)) {
        (None, None) => Direction::HostToHost,
        (None, Some(_)) => Direction::DeviceToHost,
        (Some(_), None) => Direction::HostToDevice,
        (Some(to), Some(from)) if to != from => Direction::Peer,
        (Some(_), Some(_)) => Direction::DeviceToDevice,
    }
}

/// `height` rows of `width` elements of `element` bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) dst: u64,
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    pub(crate) element: u8,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Fill {
    /// The link's form of it, checked.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for a misaligned address or memory that the device can't reach.
    pub(crate) fn op(&self) -> Res<Op> {
        let element = usize::from(self.element);
        let row = self.width.checked_mul(element).ok_or(INVALID_VALUE)?;
        let rows = self.pitch.checked_mul(self.height.saturating_sub(1)).ok_or(INVALID_VALUE)?;
        let misaligned =
            !self.dst.is_multiple_of(element as u64) || (self.height > 1 && !self.pitch.is_multiple_of(element));
        if misaligned || (self.height > 1 && self.pitch < row) {
            return Err(INVALID_VALUE);
        }
        memory::check(self.dst, rows.checked_add(row).ok_or(INVALID_VALUE)?)?;
        Ok(Op::Memset {
            dst: self.dst,
            value: self.value,
            element: self.element,
            width: self.width as u64,
            height: self.height as u64,
            pitch: self.pitch as u64,
        })
    }

    /// Queues the fill.
    ///
    /// # Errors
    /// Those of [`Fill::op`] and of the submission.
    pub(crate) fn run(&self, stream: &'static Stream) -> Res {
        if self.width == 0 || self.height == 0 {
            return Ok(());
        }
        let driver = driver()?;
        let op = self.op()?;
        submit(driver, stream, driver.costs.copy_ns, &op, || Work::Memset(op)).map(|_| ())
    }
}

//! A client's memory, read and written through the file that it handed over at connect.
//!
//! Works on a stopped client, needs no privilege, and has no unsafe code: a bad address is an error, and a dead client's
//! memory is empty. It must know nothing of streams or time.

use mgpu_sim_link::{Op, Pitch};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Bytes moved at a time.
const CHUNK: usize = 256 << 10;

/// One client's address space.
#[derive(Debug)]
pub(crate) struct ClientMemory(File);

/// `length` as an index: at most a chunk, so that it fits.
fn step(length: u64) -> usize {
    usize::try_from(length).map_or(CHUNK, |length| length.min(CHUNK))
}

impl ClientMemory {
    pub(crate) fn new(file: OwnedFd) -> Self {
        Self(file.into())
    }

    /// Stores the low `width` (4 or 8) bytes of `value`, as one store where the kernel's copy is one.
    pub(crate) fn write_word(&self, address: u64, value: u64, width: u8) -> io::Result<()> {
        let bytes = value.to_le_bytes();
        self.0.write_all_at(if width == 4 { &bytes[..4] } else { &bytes }, address)
    }

    /// Loads `width` (4 or 8) bytes.
    pub(crate) fn read_word(&self, address: u64, width: u8) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(if width == 4 { &mut bytes[..4] } else { &mut bytes }, address)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Does a copy or memset; other ops are nothing to do. Stops at the first bad address.
    pub(crate) fn perform(&self, op: &Op) -> io::Result<()> {
        if op.bytes().unwrap_or(0) == 0 {
            return Ok(());
        }
        match *op {
            Op::Copy { dst, src, width, height, depth, dst_pitch, src_pitch, .. } => {
                let mut buffer = vec![0; step(width)];
                rows(width, height, depth, dst_pitch, src_pitch, |to, from, length| {
                    self.copy(dst.wrapping_add(to), src.wrapping_add(from), length, &mut buffer)
                })
            }
            Op::Memset { dst, value, element, width, height, pitch } => {
                let length = width * u64::from(element);
                let pattern: Vec<u8> =
                    value.to_le_bytes().into_iter().take(usize::from(element)).cycle().take(step(length)).collect();
                (0..height).try_for_each(|row| self.fill(dst.wrapping_add(row.wrapping_mul(pitch)), length, &pattern))
            }
            _ => Ok(()),
        }
    }

    /// Copies `length` bytes; overlapping ranges give what the hardware gives: anything.
    fn copy(&self, mut dst: u64, mut src: u64, mut length: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
        while length > 0 {
            let now = step(length);
            if buffer.len() < now {
                buffer.resize(now, 0);
            }
            self.0.read_exact_at(&mut buffer[..now], src)?;
            self.0.write_all_at(&buffer[..now], dst)?;
            let now = now as u64;
            (dst, src, length) = (dst.wrapping_add(now), src.wrapping_add(now), length - now);
        }
        Ok(())
    }

    /// Fills `length` bytes with `pattern`, which is one chunk of them (a whole number of elements) or all.
    fn fill(&self, mut dst: u64, mut length: u64, pattern: &[u8]) -> io::Result<()> {
        while length > 0 {
            let now = step(length);
            self.0.write_all_at(&pattern[..now], dst)?;
            let now = now as u64;
            (dst, length) = (dst.wrapping_add(now), length - now);
        }
        Ok(())
    }
}

/// Calls `each(offset at the destination, offset at the source, bytes)` for every contiguous piece.
fn rows(
    width: u64,
    height: u32,
    depth: u32,
    dst: Pitch,
    src: Pitch,
    mut each: impl FnMut(u64, u64, u64) -> io::Result<()>,
) -> io::Result<()> {
    let (height, depth) = (u64::from(height), u64::from(depth));
    for slice in 0..depth {
        let (to, from) = (slice.wrapping_mul(dst.slice), slice.wrapping_mul(src.slice));
        if dst.row == width && src.row == width {
            each(to, from, width * height)?;
            continue;
        }
        for row in 0..height {
            each(to.wrapping_add(row.wrapping_mul(dst.row)), from.wrapping_add(row.wrapping_mul(src.row)), width)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpu_sim_link::Direction;

    fn this_process() -> ClientMemory {
        ClientMemory(File::options().read(true).write(true).open("/proc/self/mem").expect("own memory"))
    }

    fn address<T>(of: &[T]) -> u64 {
        of.as_ptr() as u64
    }

    #[test]
    fn words_have_their_width() {
        let mut words = [u64::MAX; 2];
        let memory = this_process();
        memory.write_word(words.as_mut_ptr() as u64, 5, 4).expect("a good address");
        assert_eq!(std::hint::black_box(words), [0xffff_ffff_0000_0005, u64::MAX]);
        assert_eq!(memory.read_word(address(&words), 4).expect("a good address"), 5);
        assert!(memory.write_word(8, 5, 8).is_err());
    }

    #[test]
    fn a_plane_is_copied_row_by_row() {
        let from: Vec<u8> = (0..64).collect();
        let to = vec![0u8; 64];
        let op = Op::Copy {
            dst: address(&to),
            src: address(&from),
            width: 4,
            height: 3,
            depth: 2,
            dst_pitch: Pitch { row: 8, slice: 32 },
            src_pitch: Pitch { row: 10, slice: 30 },
            direction: Direction::HostToDevice,
        };
        this_process().perform(&op).expect("good addresses");
        let to = std::hint::black_box(to);
        assert_eq!(
            (&to[0..4], &to[8..12], &to[48..52]),
            (&[0, 1, 2, 3][..], &[10, 11, 12, 13][..], &[50, 51, 52, 53][..])
        );
        assert_eq!(to[4..8], [0; 4]);
    }

    #[test]
    fn a_long_memset_fills_every_element_and_no_more() {
        let count = CHUNK; // Four chunks.
        let words = vec![1u32; count + 1];
        let op = Op::Memset { dst: address(&words), value: 7, element: 4, width: count as u64, height: 1, pitch: 0 };
        this_process().perform(&op).expect("good addresses");
        let words = std::hint::black_box(words);
        assert!(words[..count].iter().all(|&word| word == 7));
        assert_eq!(words[count], 1);
    }
}

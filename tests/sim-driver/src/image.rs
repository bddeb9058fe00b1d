//! Kernel names and parameter sizes of a code image: fat binary, cubin (ELF) or PTX text.
//!
//! Nothing is executed. An image that can't be read whole (compressed, unknown) gives an incomplete list, and then any
//! name is accepted. It must never fail: a client's image is always loadable on the simulated device.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::slice;

mod elf;
mod ptx;

/// Where a parameter lies in the kernel's parameter buffer, and how large it is; bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// What is known of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// Kernels by name, with their parameters.
    pub(crate) kernels: BTreeMap<String, Vec<Parameter>>,
    /// Global variables by name, with their sizes in bytes.
    pub(crate) globals: BTreeMap<String, usize>,
    /// Whether every part could be read, so that a name which is absent does not exist.
    pub(crate) complete: bool,
    /// Bytes of code that a device would hold.
    pub(crate) bytes: usize,
}

const WRAPPER: u32 = 0x4662_43b1;
const FATBIN: u32 = 0xba55_ed50;
const ELF: u32 = 0x464c_457f;
/// No image is larger than this; a header that says so is not believed.
const LIMIT: usize = 1 << 30;

/// Reads the image at `image`.
///
/// # Safety
/// `image` points to an image in one of the forms that `cuModuleLoadData` takes, whole.
pub(crate) unsafe fn scan(image: *const c_void) -> Image {
    // SAFETY: any image has at least four bytes (a text of less ends with its NUL before they matter).
    let magic = unsafe { first_word(image.cast()) };
    match magic {
        // SAFETY: a wrapper is {magic, version, pointer to the fat binary, ..}.
        WRAPPER => match unsafe { image.cast::<*const c_void>().wrapping_add(1).read_unaligned() } {
            data if data.is_null() => Image::default(),
            // SAFETY: as promised by the caller for what the wrapper points to.
            data => unsafe { scan(data) },
        },
        FATBIN => {
            // SAFETY: the fat binary's header holds its size, and the caller promises that it is whole.
            let bytes = unsafe { sized(image.cast(), fatbin_size) };
            bytes.map_or_else(Image::default, fatbin)
        }
        ELF => {
            // SAFETY: as above, with the ELF header's tables.
            let bytes = unsafe { sized(image.cast(), elf::size) };
            bytes.map_or_else(Image::default, elf::scan)
        }
        _ => {
            // SAFETY: anything else is text and ends with NUL.
            let text = unsafe { CStr::from_ptr(image.cast()) };
            ptx::scan(&text.to_string_lossy())
        }
    }
}

/// The first four bytes, stopping at a NUL (a short text may lie at the end of a page).
unsafe fn first_word(at: *const u8) -> u32 {
    let mut word = [0_u8; 4];
    for (i, byte) in word.iter_mut().enumerate() {
        // SAFETY: every byte before this one was not NUL, so this one still belongs to the image.
        *byte = unsafe { at.wrapping_add(i).read() };
        if *byte == 0 {
            break;
        }
    }
    u32::from_le_bytes(word)
}

/// The image as bytes; `size` reads it from the first 64.
unsafe fn sized<'a>(at: *const u8, size: fn(&[u8]) -> Option<usize>) -> Option<&'a [u8]> {
    // SAFETY: fat binaries and cubins are longer than their 64-byte headers.
    let header = unsafe { slice::from_raw_parts(at, 64) };
    let bytes = size(header).filter(|n| (64..=LIMIT).contains(n))?;
    // SAFETY: the caller promises a whole image, and the header says that it is this long.
    Some(unsafe { slice::from_raw_parts(at, bytes) })
}

fn fatbin_size(header: &[u8]) -> Option<usize> {
    let head = usize::from(read_u16(header, 6)?);
    usize::try_from(read_u64(header, 8)?).ok()?.checked_add(head)
}

const PART_PTX: u16 = 1;
const PART_ELF: u16 = 2;
const COMPRESSED: u64 = 0x2000 | 0x8000;

/// A fat binary is a header and parts, each {kind u16, u16, header size u32, size u64, .., flags u64 at 40}. One cubin that
/// can be read is enough: all parts hold the same kernels.
fn fatbin(bytes: &[u8]) -> Image {
    let mut best = Image { bytes: bytes.len(), ..Image::default() };
    let mut at = usize::from(read_u16(bytes, 6).unwrap_or(0));
    while let (Some(kind), Some(head), Some(size)) =
        (read_u16(bytes, at), read_u32(bytes, at + 4), read_u64(bytes, at + 8))
    {
        let (Ok(head), Ok(size)) = (usize::try_from(head), usize::try_from(size)) else { break };
        let Some(next) = at.checked_add(head).and_then(|start| start.checked_add(size)) else { break };
        if next <= at {
            break;
        }
        let flags = read_u64(bytes, at + 40).unwrap_or(0);
        if let Some(body) = bytes.get(at + head..next).filter(|_| flags & COMPRESSED == 0) {
            let found = match kind {
                PART_ELF => elf::scan(body),
                PART_PTX => ptx::scan(&String::from_utf8_lossy(body)),
                _ => Image::default(),
            };
            if found.complete && !best.complete {
                best = Image { bytes: bytes.len(), ..found };
            }
        }
        at = next;
    }
    best
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_read_no_further_than_their_end() {
        for text in [c"", c"a", c"abc"] {
            // SAFETY: NUL-terminated texts.
            let image = unsafe { scan(text.as_ptr().cast()) };
            assert!(!image.complete);
        }
    }

    #[test]
    fn a_compressed_part_leaves_the_list_open() {
        let mut bytes = [0_u8; 16 + 64 + 8];
        bytes[0..4].copy_from_slice(&FATBIN.to_le_bytes());
        bytes[6..8].copy_from_slice(&16_u16.to_le_bytes());
        bytes[8..16].copy_from_slice(&72_u64.to_le_bytes());
        bytes[16..18].copy_from_slice(&PART_ELF.to_le_bytes());
        bytes[20..24].copy_from_slice(&64_u32.to_le_bytes());
        bytes[24..32].copy_from_slice(&8_u64.to_le_bytes());
        bytes[56..64].copy_from_slice(&0x2000_u64.to_le_bytes());
        // SAFETY: a whole fat binary.
        let image = unsafe { scan(bytes.as_ptr().cast()) };
        assert!(!image.complete);
        assert_eq!(image.bytes, bytes.len());
    }
}

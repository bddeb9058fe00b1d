//! Address ranges from the kernel: lazily committed, private, and free until touched.
//! It must never know what lies in them.

use std::ptr;

/// Size and alignment of the driver's blocks, and of every device address range.
pub(crate) const BLOCK: usize = 2 << 20;

/// A private, writable range of `bytes`, aligned to [`BLOCK`], that costs no memory until touched. Never null.
pub(crate) fn reserve(bytes: usize) -> Option<*mut u8> {
    map_aligned(bytes, BLOCK, libc::PROT_READ | libc::PROT_WRITE)
}

/// A range of addresses that nothing may touch yet (for `cuMemAddressReserve`), aligned to `align` or [`BLOCK`].
pub(crate) fn reserve_addresses(bytes: usize, align: usize) -> Option<*mut u8> {
    map_aligned(bytes, align.max(BLOCK), libc::PROT_NONE)
}

fn map_aligned(bytes: usize, align: usize, protection: i32) -> Option<*mut u8> {
    let length = bytes.checked_next_multiple_of(BLOCK)?;
    let whole = length.checked_add(align)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let raw = unsafe { libc::mmap(ptr::null_mut(), whole, protection, flags, -1, 0) };
    if raw == libc::MAP_FAILED {
        return None;
    }
    let start = (raw as usize).next_multiple_of(align);
    let front = start - raw as usize;
    if front > 0 {
        release(raw as usize, front);
    }
    release(start + length, whole - front - length);
    Some(start as *mut u8)
}

/// Gives a range back. `bytes` is rounded up to pages by the kernel; zero does nothing.
pub(crate) fn release(start: usize, bytes: usize) {
    if bytes > 0 {
        // SAFETY: callers pass ranges that `reserve` or `reserve_addresses` made and that no Rust reference points into.
        unsafe { libc::munmap(start as *mut libc::c_void, bytes) };
    }
}

/// Drops what was written to a range but keeps its addresses usable; reads give zeros again.
pub(crate) fn discard(start: usize, bytes: usize) {
    // SAFETY: as in `release`; the mapping stays.
    unsafe { libc::madvise(start as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
}

/// Opens or closes a range to reads and writes.
pub(crate) fn protect(start: usize, bytes: usize, open: bool) {
    let protection = if open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // SAFETY: as in `release`; no Rust reference points into the range.
    unsafe { libc::mprotect(start as *mut libc::c_void, bytes, protection) };
}

/// Puts the file's first `bytes` at `start`, untouchable until [`protect`] opens it. Whether it worked.
pub(crate) fn map_file(start: usize, bytes: usize, file: i32) -> bool {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: replaces a part of a range that `reserve_addresses` made, which no Rust reference points into.
    let at = unsafe { libc::mmap(start as *mut libc::c_void, bytes, libc::PROT_NONE, flags, file, 0) };
    at != libc::MAP_FAILED
}

/// Takes a file away again; the addresses stay reserved.
pub(crate) fn unmap_file(start: usize, bytes: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: as in `map_file`.
    unsafe { libc::mmap(start as *mut libc::c_void, bytes, libc::PROT_NONE, flags, -1, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_aligned_and_lazy() {
        let start = reserve(64 << 30).expect("no memory is committed, so 64 GiB are fine");
        assert_eq!(start as usize % BLOCK, 0);
        release(start as usize, 64 << 30);
    }
}

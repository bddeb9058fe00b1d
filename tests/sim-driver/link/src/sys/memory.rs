//! Shared memory: a sealed memfd and a mapping of it as one plain struct of atomics.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// A struct that may lie in memory that another process writes at the same time.
///
/// # Safety
/// Made of atomics and arrays of them only, so that every bit pattern (all zeros above all) is a value and concurrent
/// writes are no data race; `repr(C)`.
pub unsafe trait Shared: Sized {}

/// A mapping of a `T`. Lives as long as it is not dropped; the file may be closed.
#[derive(Debug)]
pub struct Mapping<T: Shared> {
    at: NonNull<T>,
    kind: PhantomData<T>,
}

// SAFETY: `T` is made of atomics (see `Shared`), and the mapping itself is not tied to a thread.
unsafe impl<T: Shared> Send for Mapping<T> {}
// SAFETY: as above; only `&T` is given out.
unsafe impl<T: Shared> Sync for Mapping<T> {}

/// A zeroed memfd of the size of `T`, sealed against shrinking and growing: nobody can make its mapping fault.
///
/// # Errors
/// What the kernel says.
pub fn create<T: Shared>(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: `name` is a C string; the result is checked.
    let raw = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
    file.set_len(size_of::<T>() as u64)?;
    // SAFETY: plain fcntl on our own descriptor.
    let sealed = unsafe {
        libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL)
    };
    if sealed < 0 { Err(io::Error::last_os_error()) } else { Ok(file.into()) }
}

impl<T: Shared> Mapping<T> {
    /// Maps a file that [`create`] made. With `writable` false every store is a crash.
    ///
    /// # Errors
    /// `InvalidData` when the file is smaller than `T`; else what the kernel says.
    pub fn new(file: BorrowedFd<'_>, writable: bool) -> io::Result<Self> {
        let length = File::from(file.try_clone_to_owned()?).metadata()?.len();
        if length < size_of::<T>() as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let access = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a fresh mapping at an address that the kernel picks; the result is checked.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), size_of::<T>(), access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast::<T>()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { at, kind: PhantomData })
    }
}

impl<T: Shared> Deref for Mapping<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: mapped for `size_of::<T>()` bytes until drop, page-aligned, and every bit pattern is a `T`.
        unsafe { self.at.as_ref() }
    }
}

impl<T: Shared> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; no reference outlives `self`.
        unsafe { libc::munmap(self.at.as_ptr().cast(), size_of::<T>()) };
    }
}

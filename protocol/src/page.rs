//! Pages as memory: make them, seal them, map them, retire them. The only place that maps memory of another process or holds
//! a raw pointer to a page; everything else takes references.
//!
//! A page's memfd can't change its size any more (sealed), so a mapping never faults; a hostile holder may still punch holes
//! into a writable page, which then reads as zeros: a valid, empty page.

use crate::PAGE_VERSION;
use crate::layout::{GRANTS_MAGIC, GrantsPage, TENANT_MAGIC, TenantPage};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Why a descriptor is not a page of ours.
#[derive(Debug)]
pub enum PageError {
    /// The kernel refused.
    Io(io::Error),
    /// Another size than this build's layout.
    Size {
        /// Bytes found.
        found: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// It could be shrunk under our feet, or (a grants page) be written by others.
    Unsealed,
    /// Another kind of page, or none.
    Magic,
    /// Another layout.
    Version(u32),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "page can't be mapped: {e}"),
            Self::Size { found, expected } => write!(f, "page has {found} bytes, this build's layout {expected}"),
            Self::Unsealed => f.write_str("page is not sealed as it must be"),
            Self::Magic => f.write_str("descriptor is no page of this kind"),
            Self::Version(v) => write!(f, "page has layout version {v}, this build reads {PAGE_VERSION}"),
        }
    }
}

impl std::error::Error for PageError {}

impl From<io::Error> for PageError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::layout::GrantsPage {}
    impl Sealed for crate::layout::TenantPage {}
}

/// A kind of page: made of atomics only, valid when zeroed.
pub trait Page: sealed::Sealed {
    /// What stands in its first word.
    const MAGIC: u64;
    /// Seals that a client demands.
    const SEALS: i32;
    /// Whether clients may write it.
    const CLIENT_WRITES: bool;
    /// Its first word.
    fn magic(&self) -> &AtomicU64;
    /// Its layout version.
    fn version(&self) -> &AtomicU32;
}

const FIXED_SIZE: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

impl Page for GrantsPage {
    const MAGIC: u64 = GRANTS_MAGIC;
    const SEALS: i32 = FIXED_SIZE | libc::F_SEAL_FUTURE_WRITE;
    const CLIENT_WRITES: bool = false;
    fn magic(&self) -> &AtomicU64 {
        &self.magic
    }
    fn version(&self) -> &AtomicU32 {
        &self.version
    }
}

impl Page for TenantPage {
    const MAGIC: u64 = TENANT_MAGIC;
    const SEALS: i32 = FIXED_SIZE;
    const CLIENT_WRITES: bool = true;
    fn magic(&self) -> &AtomicU64 {
        &self.magic
    }
    fn version(&self) -> &AtomicU32 {
        &self.version
    }
}

/// A mapped page; unmapped when dropped.
pub struct Mapping<T: Page> {
    at: NonNull<T>,
}

// SAFETY: a page consists of atomics alone, which may be used from any thread.
unsafe impl<T: Page> Send for Mapping<T> {}
// SAFETY: as above.
unsafe impl<T: Page> Sync for Mapping<T> {}

impl<T: Page> fmt::Debug for Mapping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("at", &self.at).finish()
    }
}

impl<T: Page> Deref for Mapping<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: `at` points to `mapped_size::<T>()` mapped bytes until drop; any bytes are a valid page of atomics. A
        // read-only mapping is only read: the shim has no code that writes grants.
        unsafe { self.at.as_ref() }
    }
}

impl<T: Page> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: this mapping is ours alone, and nobody can hold a reference past its owner.
        unsafe { libc::munmap(self.at.as_ptr().cast(), mapped_size::<T>()) };
    }
}

/// Bytes of a page's memfd: the layout, rounded up to whole memory pages.
#[must_use]
pub const fn mapped_size<T>() -> usize {
    size_of::<T>().next_multiple_of(4096)
}

impl<T: Page> Mapping<T> {
    /// For the coordinator: makes a sealed page, every byte of it touched (so charged to the coordinator, not to a container's
    /// memory group) and zero but for magic and version. The descriptor is for the clients.
    ///
    /// # Errors
    /// The kernel's, from making, sizing, mapping or sealing it.
    pub fn create(name: &std::ffi::CStr) -> io::Result<(Self, OwnedFd)> {
        let fd = memfd(name)?;
        let size = mapped_size::<T>();
        let length = libc::off_t::try_from(size).map_err(io::Error::other)?;
        // SAFETY: plain call on our own descriptor.
        check(unsafe { libc::ftruncate(fd.as_raw_fd(), length) })?;
        let page = Self::map(Some(&fd), true)?;
        page.touch();
        page.version().store(PAGE_VERSION.into(), Ordering::Relaxed);
        page.magic().store(T::MAGIC, Ordering::Release);
        // The writable mapping above stays writable: FUTURE_WRITE only refuses new ones.
        // SAFETY: plain call on our own descriptor.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, T::SEALS | libc::F_SEAL_SEAL) })?;
        Ok((page, fd))
    }

    /// For a client: maps a page that came over the session socket, read-only unless clients write this kind.
    ///
    /// # Errors
    /// See [`PageError`]; nothing stays mapped.
    pub fn open(fd: BorrowedFd<'_>) -> Result<Self, PageError> {
        let expected = u64::try_from(mapped_size::<T>()).map_err(io::Error::other)?;
        let found = file_size(fd)?;
        if found != expected {
            return Err(PageError::Size { found, expected });
        }
        // SAFETY: plain call on a live descriptor.
        let seals = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) })?;
        if seals & T::SEALS != T::SEALS {
            return Err(PageError::Unsealed);
        }
        let page = Self::map(Some(&fd), T::CLIENT_WRITES)?;
        if page.magic().load(Ordering::Acquire) != T::MAGIC {
            return Err(PageError::Magic);
        }
        match page.version().load(Ordering::Relaxed) {
            v if v == u32::from(PAGE_VERSION) => Ok(page),
            v => Err(PageError::Version(v)),
        }
    }

    /// A page of this process alone, zero but for magic and version: for a client without a coordinator.
    ///
    /// # Errors
    /// The kernel's.
    pub fn private() -> io::Result<Self> {
        let page = Self::map(None::<&OwnedFd>, true)?;
        page.version().store(PAGE_VERSION.into(), Ordering::Relaxed);
        page.magic().store(T::MAGIC, Ordering::Release);
        Ok(page)
    }

    /// Gives the page's memory back but keeps its address valid: it reads as zeros from now on (a closed gate, free lines) and takes
    /// writes that nobody sees. For a page that some thread may still be looking at. `false`: the kernel refused, nothing changed.
    pub fn retire(&self) -> bool {
        // SAFETY: replaces our own mapping by private zero pages at the same place, in one step. Whoever holds a reference sees
        // atomics that change their value, which a shared page's may at any time.
        let at = unsafe {
            libc::mmap(
                self.at.as_ptr().cast(),
                mapped_size::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        at != libc::MAP_FAILED
    }

    fn map(fd: Option<&impl AsRawFd>, writable: bool) -> io::Result<Self> {
        let (sharing, fd) = match fd {
            Some(fd) => (libc::MAP_SHARED, fd.as_raw_fd()),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
        };
        let access = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: a fresh mapping at a place of the kernel's choice touches nothing that exists.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), mapped_size::<T>(), access, sharing, fd, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(at.cast()).map(|at| Self { at }).ok_or_else(|| io::Error::other("mapped at address 0"))
    }

    /// Writes a zero into every memory page, so that each exists before anybody else could be charged for it.
    fn touch(&self) {
        for offset in (0..mapped_size::<T>()).step_by(4096) {
            // SAFETY: `offset` lies inside the mapping.
            let byte = unsafe { self.at.as_ptr().cast::<u8>().add(offset) };
            // SAFETY: the page is new, writable, and nobody else has its descriptor yet.
            unsafe { byte.write_volatile(0) };
        }
    }
}

fn memfd(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    let plain = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // Kernels before 6.3 don't know NOEXEC_SEAL.
    for flags in [plain | libc::MFD_NOEXEC_SEAL, plain] {
        // SAFETY: a C string and flags.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if fd >= 0 {
            // SAFETY: a new descriptor that nobody else owns.
            return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
    Err(io::Error::last_os_error())
}

fn file_size(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is as large as the kernel writes.
    check(unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) })?;
    // SAFETY: filled by the successful call.
    let stat = unsafe { stat.assume_init() };
    u64::try_from(stat.st_size).map_err(io::Error::other)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

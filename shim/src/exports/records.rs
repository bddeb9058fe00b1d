//! One record for each hooked function: its name, its wrapper, and the two functions that it can lead to.

use crate::exports::{bind, stubs, wrappers};
use crate::resolver::library;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One hooked function. Its address is its identity.
#[repr(C)]
pub(crate) struct Hooked {
    /// Where a call to the export goes: first `bind`'s trampoline, then the wrapper, or another library's function of this
    /// name that stands between us and the driver. The first field: the export jumps through it.
    bound: AtomicPtr<c_void>,
    /// The driver's own function; null until it was looked up.
    driver: AtomicPtr<c_void>,
    name: &'static CStr,
    export: unsafe extern "C" fn(),
    wrapper: *const c_void,
}

// SAFETY: the pointers are addresses of code, and what changes is atomic.
unsafe impl Sync for Hooked {}

impl Hooked {
    const fn new(name: &'static CStr, export: unsafe extern "C" fn(), wrapper: *const c_void) -> Self {
        Self {
            bound: AtomicPtr::new(bind::trampoline as *mut c_void),
            driver: AtomicPtr::new(ptr::null_mut()),
            name,
            export,
            wrapper,
        }
    }

    /// The exported name.
    pub(crate) fn name(&self) -> &'static CStr {
        self.name
    }

    /// Address of this library's export of that name.
    pub(crate) fn export(&self) -> *const c_void {
        self.export as *const c_void
    }

    /// Address of the function that hooks the driver's.
    pub(crate) fn wrapper(&self) -> *const c_void {
        self.wrapper
    }

    /// From now on calls to the export go to `target`.
    pub(super) fn bind_to(&self, target: *const c_void) {
        self.bound.store(target.cast_mut(), Ordering::Relaxed);
    }

    /// The driver's function; None if the driver has none, or there is no driver.
    #[inline]
    pub(super) fn driver(&self) -> Option<ptr::NonNull<c_void>> {
        ptr::NonNull::new(self.driver.load(Ordering::Relaxed)).or_else(|| self.look_up())
    }

    /// The driver handed out `function` for this ABI without exporting it under this name.
    pub(crate) fn learn(&self, function: *const c_void) {
        if self.driver().is_none() {
            self.driver.store(function.cast_mut(), Ordering::Relaxed);
        }
    }

    #[cold]
    fn look_up(&self) -> Option<ptr::NonNull<c_void>> {
        let found = library::open().map_or(ptr::null(), |library| library.find(self.name)).cast_mut();
        if !found.is_null() {
            self.driver.store(found, Ordering::Relaxed);
        }
        ptr::NonNull::new(found)
    }
}

macro_rules! records {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $args:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => {
        $($(
            define! { $status $name }
            $(define! { $status $twin })?
        )+)*

        /// The table's order, with a hole for each name that is not hooked.
        static ROWS: [Option<&'static Hooked>; NAMES.len()] = [$($(
            record!($status $name), $(record!($status $twin),)?
        )+)*];

        const NAMES: &[Option<&str>] = &[$($(
            hooked_name!($status $name), $(hooked_name!($status $twin),)?
        )+)*];
    };
}

macro_rules! define {
    (now $name:ident) => {
        #[allow(non_upper_case_globals, reason = "named after the function")]
        pub(super) static $name: Hooked =
            Hooked::new(terminated(concat!(stringify!($name), "\0")), stubs::$name, wrappers::$name as *const c_void);
    };
    ($status:ident $name:ident) => {};
}

macro_rules! record {
    (now $name:ident) => {
        Some(&$name)
    };
    ($status:ident $name:ident) => {
        None
    };
}

macro_rules! hooked_name {
    (now $name:ident) => {
        Some(stringify!($name))
    };
    ($status:ident $name:ident) => {
        None
    };
}

mgpu_cuda::for_each_family!(records);

/// Indices into `ROWS` of the hooked names, sorted by name.
static ORDER: [u16; HOOKED] = order();

const HOOKED: usize = {
    let (mut count, mut row) = (0, 0);
    while row < NAMES.len() {
        count += NAMES[row].is_some() as usize;
        row += 1;
    }
    count
};

/// Every record, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Hooked> {
    ORDER.iter().filter_map(|row| at(*row))
}

/// The record of the exported name `name`, if that is hooked. Neither allocates nor locks.
pub(crate) fn find(name: &CStr) -> Option<&'static Hooked> {
    let found = ORDER.binary_search_by(|row| at(*row).map_or(c"", Hooked::name).cmp(name)).ok()?;
    at(*ORDER.get(found)?)
}

fn at(row: u16) -> Option<&'static Hooked> {
    ROWS.get(usize::from(row)).copied().flatten()
}

const fn terminated(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name in the table holds a zero byte"),
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the table has some 700 rows; the constant would not compile")]
const fn order() -> [u16; HOOKED] {
    assert!(NAMES.len() <= u16::MAX as usize);
    let mut order = [0; HOOKED];
    let (mut count, mut row) = (0, 0);
    while row < NAMES.len() {
        if let Some(name) = NAMES[row] {
            let mut at = count;
            while at > 0 && follows(NAMES[order[at - 1] as usize], name) {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = row as u16;
            count += 1;
        }
        row += 1;
    }
    order
}

const fn follows(left: Option<&str>, right: &str) -> bool {
    let (Some(left), right) = (left, right.as_bytes()) else { return false };
    let left = left.as_bytes();
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] > right[at];
        }
        at += 1;
    }
    left.len() > right.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hooked_row_and_nothing_else_has_a_record() {
        for symbol in mgpu_cuda::SYMBOLS {
            let name = std::ffi::CString::new(symbol.name).expect("names hold no zero byte");
            let hooked = symbol.status == mgpu_cuda::Status::Now;
            assert_eq!(find(&name).is_some(), hooked, "{}", symbol.name);
        }
        assert!(find(c"cuNoSuchThing").is_none());
        assert!(find(c"").is_none());
    }

    #[test]
    fn records_are_sorted_and_complete() {
        assert!(all().map(Hooked::name).is_sorted());
        assert_eq!(all().count(), mgpu_cuda::SYMBOLS.iter().filter(|s| s.status == mgpu_cuda::Status::Now).count());
    }
}

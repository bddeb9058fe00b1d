//! The objects that are loaded into this namespace, in the loader's order. It allocates nothing and keeps nothing; the
//! only lock is the loader's own. It knows nothing of CUDA.

use crate::elf::Image;
use std::ffi::{CStr, c_int, c_void};
use std::ops::ControlFlow;
use std::ptr;

/// One loaded object. Its pointers are the loader's and live as long as the object is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    base: usize,
    name: *const libc::c_char,
    headers: *const libc::Elf64_Phdr,
    header_count: usize,
}

impl Object {
    /// The path that it was loaded from; empty for the main program.
    pub(crate) fn path(&self) -> &CStr {
        if self.name.is_null() {
            return c"";
        }
        // SAFETY: the loader gives a terminated string that lives as long as the object.
        unsafe { CStr::from_ptr(self.name) }
    }

    /// Its symbol table, if it has one.
    pub(crate) fn image(&self) -> Option<Image> {
        let dynamic = self.headers().iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
        let at = self.address(dynamic.p_vaddr) as *const c_void;
        // SAFETY: PT_DYNAMIC names the object's own terminated dynamic section.
        unsafe { Image::new(self.base, at) }
    }

    /// True if `address` lies in one of its segments.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.headers().iter().filter(|header| header.p_type == libc::PT_LOAD).any(|header| {
            let start = self.address(header.p_vaddr);
            (start..start.wrapping_add(as_usize(header.p_memsz))).contains(&address)
        })
    }

    /// True if both are the same loaded object.
    pub(crate) fn is(&self, other: &Object) -> bool {
        self.headers == other.headers
    }

    fn address(&self, offset: u64) -> usize {
        self.base.wrapping_add(as_usize(offset))
    }

    fn headers(&self) -> &[libc::Elf64_Phdr] {
        if self.headers.is_null() {
            return &[];
        }
        // SAFETY: the loader's description of the object's own program headers.
        unsafe { std::slice::from_raw_parts(self.headers, self.header_count) }
    }
}

/// Calls `visit` for each loaded object in the loader's order (main program, preloads, then the rest) until it breaks.
pub(crate) fn each<F: FnMut(&Object) -> ControlFlow<()>>(mut visit: F) {
    let data: *mut F = &raw mut visit;
    // SAFETY: the callback is called during this call only, with `data`, which outlives it.
    unsafe { libc::dl_iterate_phdr(Some(step::<F>), data.cast()) };
}

/// The first object for which `wanted` holds.
pub(crate) fn find(mut wanted: impl FnMut(&Object) -> bool) -> Option<Object> {
    let mut found = None;
    each(|object| {
        if wanted(object) {
            found = Some(*object);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found
}

/// The object whose segments contain `address`.
#[cfg(test)]
pub(crate) fn containing(address: *const c_void) -> Option<Object> {
    find(|object| object.contains(address as usize))
}

unsafe extern "C" fn step<F: FnMut(&Object) -> ControlFlow<()>>(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `each` passed a pointer to its `F`, which nobody else uses meanwhile.
    let visit = unsafe { &mut *data.cast::<F>() };
    // SAFETY: the loader's record is valid during the callback.
    let info = unsafe { ptr::read(info) };
    let object = Object {
        base: as_usize(info.dlpi_addr),
        name: info.dlpi_name,
        headers: info.dlpi_phdr,
        header_count: usize::from(info.dlpi_phnum),
    };
    c_int::from(visit(&object).is_break())
}

#[allow(clippy::cast_possible_truncation, reason = "addresses of this process; usize is 64 bits on both targets")]
fn as_usize(value: u64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_program_comes_first_and_holds_this_code() {
        let mut first = None;
        each(|object| {
            first = Some(*object);
            ControlFlow::Break(())
        });
        let here = the_main_program_comes_first_and_holds_this_code as *const c_void as usize;
        assert!(first.is_some_and(|object| object.contains(here) && object.path().is_empty()));
    }

    #[test]
    fn an_address_of_no_object_is_found_nowhere() {
        let on_the_heap = Box::new(0_u8);
        assert!(containing(ptr::from_ref(&*on_the_heap).cast()).is_none());
    }
}

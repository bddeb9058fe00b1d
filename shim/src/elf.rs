//! Reads the symbol table of an object that is already mapped into this process.
//!
//! It exists because `dlsym` cannot be used to find `dlsym`, and because asking the loader about the driver's symbols
//! would disturb the caller's `dlerror` and take the loader's lock. It allocates nothing, locks nothing and knows
//! nothing of CUDA.

use std::ffi::{CStr, c_char, c_void};
use std::mem::size_of;
use std::ptr;

const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_SONAME: i64 = 14;
const DT_VERSYM: i64 = 0x6fff_fff0;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// Bit of a version index: "not the default version of this name".
const VERSION_HIDDEN: u16 = 0x8000;
/// Section index of a symbol that this object only uses.
const UNDEFINED: u16 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
struct Dynamic {
    tag: i64,
    value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// The dynamic section of one mapped object. Valid while the object stays mapped: its maker sees to that.
#[derive(Clone, Copy)]
pub(crate) struct Image {
    base: usize,
    strings: usize,
    symbols: usize,
    gnu_hash: usize,
    sysv_hash: usize,
    versions: usize,
    soname: Option<u64>,
}

impl Image {
    /// Reads the dynamic section at `dynamic` of an object loaded at `base`. None if it has no symbol table.
    ///
    /// # Safety
    /// `dynamic` must point to the terminated dynamic section of an object that is mapped and stays so while the result
    /// is used.
    pub(crate) unsafe fn new(base: usize, dynamic: *const c_void) -> Option<Self> {
        let mut image = Self { base, strings: 0, symbols: 0, gnu_hash: 0, sysv_hash: 0, versions: 0, soname: None };
        let mut at = dynamic as usize;
        loop {
            // SAFETY: the caller promises a terminated dynamic section, and the loop ends at its terminator.
            let entry: Dynamic = unsafe { read(at) };
            match entry.tag {
                DT_NULL => break,
                DT_STRTAB => image.strings = absolute(base, entry.value),
                DT_SYMTAB => image.symbols = absolute(base, entry.value),
                DT_GNU_HASH => image.gnu_hash = absolute(base, entry.value),
                DT_HASH => image.sysv_hash = absolute(base, entry.value),
                DT_VERSYM => image.versions = absolute(base, entry.value),
                DT_SONAME => image.soname = Some(entry.value),
                _ => {}
            }
            at += size_of::<Dynamic>();
        }
        (image.strings != 0 && image.symbols != 0).then_some(image)
    }

    /// The object's own name (DT_SONAME), if it has one.
    pub(crate) fn soname(&self) -> Option<&CStr> {
        let offset = usize::try_from(self.soname?).ok()?;
        Some(self.string(offset))
    }

    /// Address of the function or object `name` that this image defines, or null. Of several versions the default one.
    pub(crate) fn find(&self, name: &CStr) -> *const c_void {
        let mut hidden = ptr::null();
        for index in self.candidates(name) {
            let symbol = self.symbol(index);
            if symbol.section == UNDEFINED || !is_exported(symbol.info) || self.name_of(symbol) != name {
                continue;
            }
            let address = self.base.wrapping_add(as_usize(symbol.value)) as *const c_void;
            if self.is_default_version(index) {
                return address;
            }
            hidden = address;
        }
        hidden
    }

    fn candidates(&self, name: &CStr) -> Candidates<'_> {
        if self.gnu_hash != 0 {
            Candidates::Gnu(GnuChain::start(self, name.to_bytes()))
        } else if self.sysv_hash != 0 {
            Candidates::SysV(SysVChain::start(self, name.to_bytes()))
        } else {
            Candidates::None
        }
    }

    fn word(&self, at: usize) -> u32 {
        // SAFETY: `at` lies in one of the tables that the object's own dynamic section names; they are mapped with it.
        unsafe { read(at) }
    }

    fn symbol(&self, index: u32) -> Symbol {
        // SAFETY: `index` comes out of the object's own hash table, so it lies in its symbol table.
        unsafe { read(self.symbols + widen(index) * size_of::<Symbol>()) }
    }

    fn name_of(&self, symbol: Symbol) -> &CStr {
        self.string(widen(symbol.name))
    }

    fn string(&self, offset: usize) -> &CStr {
        // SAFETY: the string table holds terminated strings, and `offset` comes from the object's own tables.
        unsafe { CStr::from_ptr((self.strings + offset) as *const c_char) }
    }

    fn is_default_version(&self, index: u32) -> bool {
        if self.versions == 0 {
            return true;
        }
        // SAFETY: the version table has one entry a symbol.
        let version: u16 = unsafe { read(self.versions + widen(index) * size_of::<u16>()) };
        version & VERSION_HIDDEN == 0
    }
}

/// Symbol indices that may carry a name.
enum Candidates<'a> {
    Gnu(GnuChain<'a>),
    SysV(SysVChain<'a>),
    None,
}

impl Iterator for Candidates<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Gnu(chain) => chain.next(),
            Self::SysV(chain) => chain.next(),
            Self::None => None,
        }
    }
}

/// One bucket of a DT_GNU_HASH table.
struct GnuChain<'a> {
    image: &'a Image,
    hash: u32,
    chains: usize,
    offset: u32,
    /// Next symbol index; 0 when the bucket is used up.
    index: u32,
}

impl<'a> GnuChain<'a> {
    fn start(image: &'a Image, name: &[u8]) -> Self {
        let table = image.gnu_hash;
        let buckets = image.word(table);
        let offset = image.word(table + 4);
        let bloom_words = image.word(table + 8);
        let bucket_table = table + 16 + widen(bloom_words) * size_of::<usize>();
        let chains = bucket_table + widen(buckets) * 4;
        let hash = gnu_hash(name);
        let index = match hash.checked_rem(buckets) {
            Some(bucket) => image.word(bucket_table + widen(bucket) * 4),
            None => 0,
        };
        Self { image, hash, chains, offset, index }
    }

    fn next(&mut self) -> Option<u32> {
        while self.index != 0 {
            let index = self.index;
            let link = self.image.word(self.chains + widen(index.checked_sub(self.offset)?) * 4);
            self.index = if link & 1 == 1 { 0 } else { index + 1 };
            if link | 1 == self.hash | 1 {
                return Some(index);
            }
        }
        None
    }
}

/// One bucket of a DT_HASH table (older linkers, and the vdso).
struct SysVChain<'a> {
    image: &'a Image,
    chains: usize,
    /// Next symbol index; 0 when the bucket is used up.
    index: u32,
}

impl<'a> SysVChain<'a> {
    fn start(image: &'a Image, name: &[u8]) -> Self {
        let table = image.sysv_hash;
        let buckets = image.word(table);
        let chains = table + 8 + widen(buckets) * 4;
        let index = match sysv_hash(name).checked_rem(buckets) {
            Some(bucket) => image.word(table + 8 + widen(bucket) * 4),
            None => 0,
        };
        Self { image, chains, index }
    }

    fn next(&mut self) -> Option<u32> {
        let index = self.index;
        if index == 0 {
            return None;
        }
        self.index = self.image.word(self.chains + widen(index) * 4);
        Some(index)
    }
}

fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)))
}

fn sysv_hash(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(*byte));
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

/// True for a symbol that others can bind to and that is code or plain data (no thread-local, no resolver function).
fn is_exported(info: u8) -> bool {
    matches!(info >> 4, 1 | 2) && matches!(info & 0xf, 0..=2)
}

/// The loader rewrites most of these values to addresses, but not in read-only dynamic sections (the vdso's).
fn absolute(base: usize, value: u64) -> usize {
    let value = as_usize(value);
    if value < base { base + value } else { value }
}

#[allow(clippy::cast_possible_truncation, reason = "addresses of this process; usize is 64 bits on both targets")]
fn as_usize(value: u64) -> usize {
    value as usize
}

fn widen(value: u32) -> usize {
    as_usize(u64::from(value))
}

/// # Safety
/// `at` must be the address of a mapped `T`, which may be unaligned.
unsafe fn read<T: Copy>(at: usize) -> T {
    // SAFETY: see above.
    unsafe { ptr::read_unaligned(at as *const T) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects;

    fn libc() -> Image {
        objects::find(|object| object.image().is_some_and(|image| image.soname() == Some(c"libc.so.6")))
            .and_then(|object| object.image())
            .expect("every test process has libc")
    }

    #[test]
    fn finds_what_the_linker_bound() {
        assert_eq!(libc().find(c"getpid"), libc::getpid as *const c_void);
        assert_eq!(libc().find(c"free"), libc::free as *const c_void);
    }

    #[test]
    fn prefers_the_default_of_several_versions() {
        let found = libc().find(c"dlvsym");
        assert!(!found.is_null());
    }

    #[test]
    fn an_absent_name_is_null() {
        assert!(libc().find(c"cuMemAlloc_v2").is_null());
        assert!(libc().find(c"").is_null());
    }

    #[test]
    fn a_name_that_is_only_used_is_not_found() {
        let own = objects::containing(finds_what_the_linker_bound as *const c_void).and_then(|object| object.image());
        assert!(own.is_some_and(|image| image.find(c"getpid").is_null()));
    }

    #[test]
    fn hashes_match_the_published_vectors() {
        assert_eq!(gnu_hash(b""), 0x0000_1505);
        assert_eq!(gnu_hash(b"printf"), 0x156b_2bb8);
        assert_eq!(gnu_hash(b"syscall"), 0xbac2_12a0);
        assert_eq!(sysv_hash(b"printf"), 0x0779_05a6);
        assert_eq!(sysv_hash(b"exit"), 0x0006_cf04);
    }

    #[test]
    fn the_older_hash_table_serves_too() {
        let mut image = libc();
        if image.sysv_hash == 0 {
            return;
        }
        let expected = image.find(c"getpid");
        image.gnu_hash = 0;
        assert_eq!(image.find(c"getpid"), expected);
    }
}

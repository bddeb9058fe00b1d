//! The table as data: [`FAMILIES`] and [`SYMBOLS`], both sorted when compiled, and the driver's rule of resolution.
//! No allocation, no lock: safe inside a `dlsym` hook, a forked child or a signal handler.
use crate::{Class, Status};

/// One ABI of a family.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The exported name.
    pub name: &'static str,
    /// CUDA version from which `cuGetProcAddress` gives it, 11020 for 11.2.
    pub introduced: u32,
    /// Its twin with the per-thread default stream, and the version from which that one is given.
    pub twin: Option<(&'static str, u32)>,
    /// Argument names and Rust types, in order.
    pub arguments: &'static [(&'static str, &'static str)],
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name without version: what `cuGetProcAddress` takes.
    pub name: &'static str,
    /// What it does to a GPU.
    pub class: Class,
    /// The detail of the class, as the row has it.
    pub detail: &'static str,
    /// What this version does with it.
    pub status: Status,
    /// Its ABIs, oldest first, never empty.
    pub variants: &'static [Variant],
}

/// One exported function.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The exported name.
    pub name: &'static str,
    /// Its family's name.
    pub family: &'static str,
    /// What it does to a GPU.
    pub class: Class,
    /// What this version does with it.
    pub status: Status,
    /// CUDA version from which `cuGetProcAddress` gives it.
    pub introduced: u32,
    /// For a per-thread twin: the plain name of the same ABI.
    pub twin_of: Option<&'static str>,
    /// Whether it means the calling thread's default stream by a null stream.
    pub per_thread: bool,
}

macro_rules! families {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident ($($arg:ident: $ty:ty),*) $(, $twin_since:literal $twin:ident)?;)+
    })*) => {
        const FAMILY_COUNT: usize = [$(stringify!($family)),*].len();
        const UNSORTED: [Family; FAMILY_COUNT] = [$(Family {
            name: stringify!($family),
            class: class!($class),
            detail: unparenthesised(stringify!($detail)),
            status: status!($status $words),
            variants: &[$(Variant {
                name: stringify!($name),
                introduced: $since,
                twin: twin!($($twin_since $twin)?),
                arguments: &[$((stringify!($arg), stringify!($ty))),*],
            }),+],
        }),*];
    };
}

macro_rules! status {
    (now()) => {
        Status::Now
    };
    (later($words:literal)) => {
        Status::Later($words)
    };
    (because($words:literal)) => {
        Status::Because($words)
    };
}

macro_rules! twin {
    () => {
        None
    };
    ($since:literal $name:ident) => {
        Some((stringify!($name), $since))
    };
}

crate::for_each_family!(families);

/// Every row of the table, sorted by name.
pub static FAMILIES: &[Family] = &SORTED_FAMILIES;
/// Every exported function of the table, per-thread twins included, sorted by name.
pub static SYMBOLS: &[Symbol] = &SORTED_SYMBOLS;

/// Names that a real driver exports, or a header mentions, and that have no row, with the reason. A closing `*` stands
/// for any rest.
pub const NOT_IN_TABLE: &[(&str, &str)] = &[
    ("cudbg*", "functions and data of the debugger interface; a preloaded library must not define them"),
    ("cuEGLApiInit", "undocumented hook of the EGL library; no header declares it, so its signature is unknown"),
    ("cuMemGetAttribute", "undocumented; no header declares it, so its signature is unknown"),
    ("cuMemGetAttribute_v2", "undocumented; no header declares it, so its signature is unknown"),
    ("cuGetProcAddress_v2_ptsz", "an inline function of the header, exported by no driver"),
    ("cuWGLGetDevice", "Windows only"),
];

/// Names of the table that no desktop driver exports, whatever its version.
pub const TEGRA_ONLY: &[&str] = &["cuEventCreateFromEGLSync"];

/// The exported function of that name.
pub fn lookup(name: &str) -> Option<&'static Symbol> {
    SYMBOLS.binary_search_by(|symbol| symbol.name.cmp(name)).ok().and_then(|index| SYMBOLS.get(index))
}

/// The row of that family name (`cuMemAlloc`, not `cuMemAlloc_v2`).
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.binary_search_by(|family| family.name.cmp(name)).ok().and_then(|index| FAMILIES.get(index))
}

/// What `cuGetProcAddress` makes of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It means this export.
    Found(&'static str),
    /// The family exists, but not yet in that version (`CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`).
    TooOld,
    /// No such family (`CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`); versioned and suffixed names are none.
    Unknown,
}

/// Which export `cuGetProcAddress(base, …, version, flags)` means: the newest ABI not above `version`. With
/// `per_thread` (flag 2) a family that has twins is resolved among its twins alone, so a version between a plain
/// function and its twin is too old; a family without twins gives its plain function. `version` is not capped by any
/// driver's own version: a driver that lacks the newest ABI gives an older one. A negative version is a huge one, as
/// real drivers read it.
pub fn resolution(base: &str, version: i32, per_thread: bool) -> Resolution {
    let Some(family) = family(base) else { return Resolution::Unknown };
    let version = version.cast_unsigned();
    let twins = per_thread && family.variants.iter().any(|variant| variant.twin.is_some());
    let mut candidates = family.variants.iter().filter_map(|variant| match variant.twin {
        twin if twins => twin,
        _ => Some((variant.name, variant.introduced)),
    });
    match candidates.rfind(|(_, introduced)| *introduced <= version) {
        Some((name, _)) => Resolution::Found(name),
        None => Resolution::TooOld,
    }
}

/// [`resolution`] for those who only need the name.
pub fn resolve(base: &str, version: i32, per_thread: bool) -> Option<&'static str> {
    match resolution(base, version, per_thread) {
        Resolution::Found(name) => Some(name),
        Resolution::TooOld | Resolution::Unknown => None,
    }
}

const fn unparenthesised(text: &'static str) -> &'static str {
    let (_, rest) = text.split_at(1);
    rest.split_at(rest.len() - 1).0
}

const SYMBOL_COUNT: usize = {
    let (mut count, mut row) = (0, 0);
    while row < FAMILY_COUNT {
        let mut variant = 0;
        while variant < UNSORTED[row].variants.len() {
            count += 1 + UNSORTED[row].variants[variant].twin.is_some() as usize;
            variant += 1;
        }
        row += 1;
    }
    count
};

/// Shell sort by name; const evaluation has neither generic field access nor closures, hence a macro.
macro_rules! sorted_by_name {
    ($items:expr) => {{
        let mut items = $items;
        let gaps = [701, 301, 132, 57, 23, 10, 4, 1];
        let mut pass = 0;
        while pass < gaps.len() {
            let gap = gaps[pass];
            let mut next = gap;
            while next < items.len() {
                let item = items[next];
                let mut at = next;
                while at >= gap && before(item.name, items[at - gap].name) {
                    items[at] = items[at - gap];
                    at -= gap;
                }
                items[at] = item;
                next += 1;
            }
            pass += 1;
        }
        items
    }};
}

static SORTED_FAMILIES: [Family; FAMILY_COUNT] = sorted_by_name!(UNSORTED);
static SORTED_SYMBOLS: [Symbol; SYMBOL_COUNT] = sorted_by_name!(every_symbol());

const fn every_symbol() -> [Symbol; SYMBOL_COUNT] {
    let first = UNSORTED[0].variants[0];
    let mut symbols = [symbol(&UNSORTED[0], first.name, first.introduced, None); SYMBOL_COUNT];
    let (mut count, mut row) = (0, 0);
    while row < FAMILY_COUNT {
        let family = &UNSORTED[row];
        let mut index = 0;
        while index < family.variants.len() {
            let variant = family.variants[index];
            symbols[count] = symbol(family, variant.name, variant.introduced, None);
            count += 1;
            if let Some((name, introduced)) = variant.twin {
                symbols[count] = symbol(family, name, introduced, Some(variant.name));
                count += 1;
            }
            index += 1;
        }
        row += 1;
    }
    symbols
}

const fn symbol(family: &Family, name: &'static str, introduced: u32, twin_of: Option<&'static str>) -> Symbol {
    let Family { name: family, class, status, .. } = *family;
    Symbol { name, family, class, status, introduced, twin_of, per_thread: twin_of.is_some() }
}

/// `str` comparison for constants.
const fn before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return left[at] < right[at];
        }
        at += 1;
    }
    left.len() < right.len()
}

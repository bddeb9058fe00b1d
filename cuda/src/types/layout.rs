//! What the compiler makes of the types: sizes, alignments and offsets, for `scripts/check-symbols` to compare with a C
//! compiler and the real headers. The macros that define types also list them, so that none is forgotten.

/// One type with a layout; those that only pass by pointer and stay opaque have none.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Its Rust name.
    pub name: &'static str,
    /// The C type to compare it with; empty where C has no way to name it and its parent's layout must do.
    pub c_type: &'static str,
    /// Bytes.
    pub size: usize,
    /// Bytes.
    pub align: usize,
    /// Fields and their offsets in bytes. A trailing underscore is ours: C has keywords of Rust as names.
    pub fields: &'static [(&'static str, usize)],
}

/// The layout of a type without fields of its own.
macro_rules! scalar_layout {
    ($name:ident) => {
        $crate::types::Layout {
            name: stringify!($name),
            c_type: stringify!($name),
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            fields: &[],
        }
    };
}

/// Defines C structures and unions, and the list of their layouts. `as` gives the C expression for a type that the
/// header leaves nameless.
macro_rules! structures {
    ($list:ident; $(
        $(#[$meta:meta])* $kind:ident $name:ident $(as $c_type:literal)? { $($(#[$about:meta])* $field:ident: $ty:ty,)* }
    )*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[allow(missing_docs)]
            pub $kind $name { $($(#[$about])* pub $field: $ty,)* }
        )*
        pub(super) const $list: &[$crate::types::Layout] = &[$($crate::types::Layout {
            name: stringify!($name),
            c_type: structures!(@c $name $($c_type)?),
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            fields: &[$((stringify!($field), core::mem::offset_of!($name, $field))),*],
        }),*];
    };
    (@c $name:ident) => { stringify!($name) };
    (@c $name:ident $c_type:literal) => { $c_type };
}

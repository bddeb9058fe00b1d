//! Every hooked function of the table, three times: its *export* (what the dynamic linker binds to), its *record* (which
//! function is behind it) and its *wrapper* (the fence, the re-entrancy guard and the hook of its class).
//!
//! All of it is generated from the table: a row with status `now` is hooked, the others do not exist here.

pub(crate) mod bind;
#[cfg(feature = "bench-extra-50ns")]
mod burn;
mod call;
mod copies;
pub(crate) mod records;
mod stubs;
mod wrappers;

//! THE table: every function that NVIDIA's headers declare (CUDA 12.9 and 13.5, with GL, EGL, VDPAU and profiler),
//! one row a family, with what mgpu decides about it. From it come the shim's exports, the resolver's answers, the
//! simulated driver's exports and `docs/hooks.md`. It is source and kept by hand; `scripts/check-symbols` compares it
//! with the headers and with a real driver. It must never know how a class is carried out.
//!
//! # A row
//!
//! ```text
//! class(detail) status("words") family {
//!     introduced name(argument: Type, …), introduced twin;
//!     …one line for each ABI, oldest first…
//! }
//! ```
//!
//! * `class(detail)`: what the function does to a GPU; [`Class`](crate::Class) lists classes and details. A detail
//!   that names an argument uses the argument's own name, the same in every version of the family.
//! * `status("words")`: `now()`: hooked; the class brings the behaviour. `later("issue …")`: belongs to that class,
//!   but in this version the call reaches the driver unhooked; the words say what that leaves open.
//!   `because("…")`: never hooked; the words name what it cannot touch.
//! * `family`: the name without version, which is the name that `cuGetProcAddress` takes.
//! * `introduced`: the CUDA version from which `cuGetProcAddress` gives this ABI, 11020 for 11.2.
//! * `introduced twin`: the same ABI with the per-thread default stream (`_ptds`, `_ptsz`), where there is one.
//!
//! # A consumer
//!
//! `for_each_family!(callback)` expands to one `callback! { row row … }` with all the rows, so it works in item and
//! in expression position. Types are bare names: have `mgpu_cuda::types::*` in scope. Take a row apart with one flat
//! pattern and choose by class in a second macro that sees one function at a time:
//!
//! ```
//! use mgpu_cuda::types::*;
//!
//! macro_rules! exports {
//!     ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
//!         $($since:literal $name:ident $args:tt $(, $twin_since:literal $twin:ident)?;)+
//!     })*) => { $($(
//!         export! { $class $detail $status $family $name $args }
//!         $(export! { $class $detail $status $family $twin $args })?
//!     )+)* };
//! }
//!
//! macro_rules! export {
//!     // Hooked here: launches that name their stream. (A real cdylib adds `#[unsafe(no_mangle)]`.)
//!     (launch (stream $stream:ident) now $family:ident $name:ident ($($arg:ident: $ty:ty),*)) => {
//!         #[allow(non_snake_case, clippy::too_many_arguments)]
//!         pub unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
//!             gate($stream);
//!             let _arguments = ($($arg,)*);
//!             mgpu_cuda::CUDA_SUCCESS
//!         }
//!     };
//!     // Everything else: a stub that names itself (a simulated driver), or nothing at all (a shim).
//!     ($class:ident $detail:tt $status:ident $family:ident $name:ident ($($arg:ident: $ty:ty),*)) => {
//!         #[allow(non_snake_case, clippy::too_many_arguments)]
//!         pub unsafe extern "C" fn $name($(_: $ty),*) -> CUresult {
//!             missing(stringify!($name))
//!         }
//!     };
//! }
//!
//! fn gate(_stream: CUstream) {}
//! fn missing(_name: &str) -> CUresult { mgpu_cuda::CUDA_ERROR_NOT_SUPPORTED }
//!
//! mod driver {
//!     use super::*;
//!     mgpu_cuda::for_each_family!(exports);
//! }
//! # fn main() {
//! # let stub: unsafe extern "C" fn() -> CUresult = driver::cuProfilerStart;
//! # // SAFETY: the stub above touches nothing.
//! # assert_eq!(unsafe { stub() }, mgpu_cuda::CUDA_ERROR_NOT_SUPPORTED);
//! # }
//! ```
//!
//! A row of a hand-written function that the consumer defines itself is skipped by a literal name in front:
//! `($class:ident $detail:tt $status:ident $family:ident cuInit $args:tt) => {};`.

mod array;
mod context;
mod copy;
mod device;
mod graph;
mod graph_node;
mod interop;
mod launch;
mod memory;
mod module;
mod pool;
mod start;
mod stream;
mod texture;
mod tools;
mod vmm;

/// Expands to one `callback! { … }` with every row of the table; see [the module](crate::table) for the grammar.
#[macro_export]
macro_rules! for_each_family {
    ($callback:ident) => {
        $crate::__families_start! { $callback }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __families_end {
    ($callback:ident $($rows:tt)*) => { $callback! { $($rows)* } };
}

//! The macro as another crate uses it: hooks for some classes, stubs for all the rest, every name exactly once.
use mgpu_cuda::types::*;
use mgpu_cuda::{CUDA_ERROR_NOT_SUPPORTED, CUDA_SUCCESS, SYMBOLS};
use std::cell::Cell;
use std::ptr::null_mut;

thread_local! {
    static SEEN: Cell<(&'static str, usize)> = const { Cell::new(("", 0)) };
}

fn gate(how: &'static str, stream: CUstream) -> CUresult {
    SEEN.set((how, stream.addr()));
    CUDA_SUCCESS
}

macro_rules! exports {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $args:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => {
        $($(
            export! { $class $detail $status $name $args }
            $(export! { $class $detail $status $twin $args })?
        )+)*
        const NAMES: &[&str] = &[$($(stringify!($name), $(stringify!($twin),)?)+)*];
    };
}

macro_rules! export {
    (launch $detail:tt now $name:ident ($($arg:ident: $ty:ty),*)) => {
        #[allow(dead_code, non_snake_case, clippy::too_many_arguments, reason = "the driver's names and arguments")]
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
            let _all = ($($arg,)*);
            hook!($detail)
        }
    };
    ($class:ident $detail:tt $status:ident $name:ident ($($arg:ident: $ty:ty),*)) => {
        #[allow(dead_code, non_snake_case, clippy::too_many_arguments, reason = "the driver's names and arguments")]
        pub(crate) unsafe extern "C" fn $name($(_: $ty),*) -> CUresult {
            CUDA_ERROR_NOT_SUPPORTED
        }
    };
}

macro_rules! hook {
    ((stream $stream:ident)) => {
        gate("stream", $stream)
    };
    ((context)) => {
        gate("context", null_mut())
    };
    ((config $config:ident)) => {{
        // SAFETY: the tests pass a whole structure.
        let config = unsafe { &*$config };
        gate("config", config.hStream)
    }};
    ((list $list:ident $count:ident)) => {
        gate("list", null_mut::<CUstream_st>().with_addr($count as usize))
    };
    ((graph $graph:ident $stream:ident)) => {
        gate("graph", $stream)
    };
}

/// What a shim or a driver would export.
mod driver {
    use super::*;
    mgpu_cuda::for_each_family!(exports);
    pub(crate) const ALL: &[&str] = NAMES;
}

#[test]
fn every_name_is_generated_once() {
    let mut names = driver::ALL.to_vec();
    names.sort_unstable();
    assert!(names.iter().eq(SYMBOLS.iter().map(|symbol| &symbol.name)));
}

#[test]
fn a_detail_reaches_the_argument_that_it_names() {
    let stream = null_mut::<CUstream_st>().with_addr(7);
    let (none, nothing) = (null_mut(), null_mut());
    // SAFETY: the functions above only look at their stream.
    let launched = unsafe { driver::cuLaunchKernel_ptsz(none, 1, 1, 1, 1, 1, 1, 0, stream, nothing, nothing) };
    assert_eq!((launched, SEEN.get()), (CUDA_SUCCESS, ("stream", 7)));
    // SAFETY: as above.
    assert_eq!(unsafe { driver::cuGraphLaunch(null_mut(), stream) }, CUDA_SUCCESS);
    assert_eq!(SEEN.get(), ("graph", 7));
    let config = CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: null_mut(),
        numAttrs: 0,
    };
    // SAFETY: as above.
    assert_eq!(unsafe { driver::cuLaunchKernelEx(&raw const config, none, nothing, nothing) }, CUDA_SUCCESS);
    assert_eq!(SEEN.get(), ("config", 7));
    // SAFETY: as above.
    assert_eq!(unsafe { driver::cuLaunchCooperativeKernelMultiDevice(null_mut(), 3, 0) }, CUDA_SUCCESS);
    assert_eq!(SEEN.get(), ("list", 3));
    // SAFETY: as above.
    assert_eq!(unsafe { driver::cuLaunch(none) }, CUDA_SUCCESS);
    assert_eq!(SEEN.get(), ("context", 0));
}

#[test]
fn the_rest_are_stubs() {
    // SAFETY: a stub looks at nothing.
    assert_eq!(unsafe { driver::cuMemAlloc_v2(null_mut(), 1) }, CUDA_ERROR_NOT_SUPPORTED);
    // SAFETY: as above.
    assert_eq!(unsafe { driver::cuProfilerStop() }, CUDA_ERROR_NOT_SUPPORTED);
}

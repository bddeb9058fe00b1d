//! The wrappers: one function with the driver's exact signature for each hooked name, generated from the table. A row's
//! class and detail say which hook it gets, so no launch path can lack its gate by oversight.

use super::records;
use super::{call, copies};
use crate::hooks;
use crate::resolver::proc_address;
use mgpu_cuda::types::*;
use std::ptr;

macro_rules! wrappers {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $args:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => { $($(
        wrapper! { $class $detail $status $name $name false $args }
        $(wrapper! { $class $detail $status $twin $name true $args })?
    )+)* };
}

/// One wrapper: `$name` is its own name, `$plain` that of the same ABI without the per-thread default stream.
macro_rules! wrapper {
    ($class:ident $detail:tt now $name:ident $plain:ident $per_thread:literal ($($arg:ident: $ty:ty),*)) => {
        /// # Safety
        /// As the driver's function of this name.
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's name and arguments")]
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
            type Driver = unsafe extern "C" fn($($ty),*) -> CUresult;
            let Some(driver) = records::$name.driver() else { return call::missing() };
            // SAFETY: the driver's function of this name has this signature.
            let driver = unsafe { std::mem::transmute::<ptr::NonNull<std::ffi::c_void>, Driver>(driver) };
            // SAFETY: the application's own arguments, in its own call.
            let pass = move || unsafe { driver($($arg),*) };
            // By reference: a hook that keeps it for later then moves one word, not every argument.
            let pass = &pass;
            call::hooked(|| hook!($class $detail $plain $per_thread pass ($($arg),*)), pass)
        }
    };
    ($class:ident $detail:tt $status:ident $name:ident $plain:ident $per_thread:literal $args:tt) => {};
}

/// What a class does with one call. `$call` passes it to the driver.
macro_rules! hook {
    (start () $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::init::init($call)
    };

    (loader () cuGetProcAddress $pt:literal $call:ident ($symbol:ident, $pfn:ident, $version:ident, $flags:ident)) => {
        // SAFETY: the application's own arguments, after the driver took them.
        unsafe { proc_address::swap($call(), $symbol, $pfn, $version, $flags) }
    };
    (loader () $n:ident $pt:literal $call:ident
        ($symbol:ident, $pfn:ident, $version:ident, $flags:ident, $status:ident)) => {
        // SAFETY: the application's own arguments, after the driver took them.
        unsafe { proc_address::swap($call(), $symbol, $pfn, $version, $flags) }
    };

    (launch (stream $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!($stream, $pt, $call)
    };
    (launch (context) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!(ptr::null_mut(), $pt, $call)
    };
    (launch (graph $graph:ident $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!($stream, $pt, $call)
    };
    (launch (config $config:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        // SAFETY: null, or the application's own structure.
        match unsafe { $config.as_ref() } {
            Some(config) => launch!(config.hStream, $pt, $call),
            None => $call(),
        }
    };
    (launch (list $list:ident $count:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        // SAFETY: null, or the application's own list of that many.
        unsafe { launch_list($list, $count, $call) }
    };
    (fill (stream $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!($stream, $pt, $call)
    };
    (fill (context) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!(ptr::null_mut(), $pt, $call)
    };

    (copy (device stream $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!($stream, $pt, $call)
    };
    (copy (device context) $n:ident $pt:literal $call:ident $args:tt) => {
        launch!(ptr::null_mut(), $pt, $call)
    };
    (copy (ask context) $n:ident $pt:literal $call:ident $args:tt) => {
        asked_copy!($n, ptr::null_mut(), $pt, $call, $args)
    };
    (copy (ask stream $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        asked_copy!($n, $stream, $pt, $call, $args)
    };

    (memory (plain) cuMemAlloc $pt:literal $call:ident ($out:ident, $bytes:ident)) => {
        hooks::memory::alloc_v1($out, $bytes, $call)
    };
    (memory (plain) $n:ident $pt:literal $call:ident ($out:ident, $bytes:ident)) => {
        hooks::memory::alloc($out, $bytes, $call)
    };
    (memory (pitch) cuMemAllocPitch $pt:literal $call:ident
        ($out:ident, $pitch:ident, $width:ident, $height:ident, $element:ident)) => {
        hooks::memory::alloc_pitch_v1($out, $pitch, $width, $height, $call)
    };
    (memory (pitch) $n:ident $pt:literal $call:ident
        ($out:ident, $pitch:ident, $width:ident, $height:ident, $element:ident)) => {
        hooks::memory::alloc_pitch($out, $pitch, $width, $height, $call)
    };
    (memory (managed) $n:ident $pt:literal $call:ident ($out:ident, $bytes:ident, $flags:ident)) => {
        hooks::memory::alloc_managed($out, $bytes, $call)
    };
    (memory (ordered $s:ident) $n:ident $pt:literal $call:ident ($out:ident, $bytes:ident, $stream:ident)) => {
        hooks::memory::alloc_async($out, $bytes, $stream, $pt, $call)
    };
    (memory (from_pool $p:ident $s:ident) $n:ident $pt:literal $call:ident
        ($out:ident, $bytes:ident, $pool:ident, $stream:ident)) => {
        hooks::memory::alloc_from_pool_async($out, $bytes, $pool, $stream, $pt, $call)
    };
    (free (plain) $n:ident $pt:literal $call:ident ($address:ident)) => {
        hooks::memory::free($address.into(), $call)
    };
    (free (ordered $s:ident) $n:ident $pt:literal $call:ident ($address:ident, $stream:ident)) => {
        hooks::memory::free_async($address, $stream, $pt, $call)
    };
    (pool (destroy) $n:ident $pt:literal $call:ident ($pool:ident)) => {
        hooks::memory::pool_destroyed($pool, $call)
    };
    (pool ($change:ident) $n:ident $pt:literal $call:ident ($pool:ident $(, $rest:ident)*)) => {
        hooks::memory::pool_changed($call)
    };

    (memory_info (free_total) cuMemGetInfo $pt:literal $call:ident ($free:ident, $total:ident)) => {
        hooks::query::mem_info_v1($free, $total, $call)
    };
    (memory_info (free_total) $n:ident $pt:literal $call:ident ($free:ident, $total:ident)) => {
        hooks::query::mem_info($free, $total, $call)
    };
    (memory_info (total) cuDeviceTotalMem $pt:literal $call:ident ($bytes:ident, $device:ident)) => {
        hooks::query::total_mem_v1($bytes, $device, $call)
    };
    (memory_info (total) $n:ident $pt:literal $call:ident ($bytes:ident, $device:ident)) => {
        hooks::query::total_mem($bytes, $device, $call)
    };

    (sync (context) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::sync::context($call)
    };
    (sync (stream $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::sync::stream($stream, $pt, $call)
    };
    (sync (event $event:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::sync::event($call)
    };

    (stream (destroy $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::stream::destroy($stream, $call)
    };
    (stream (capture_begin $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::stream::capture_begin($call)
    };
    (stream (capture_end $stream:ident) $n:ident $pt:literal $call:ident $args:tt) => {
        hooks::stream::capture_end($stream, $pt, $call)
    };

    (context (destroy) $n:ident $pt:literal $call:ident ($context:ident)) => {
        hooks::context::destroy($context, $call)
    };
    (context (release) $n:ident $pt:literal $call:ident ($device:ident)) => {
        hooks::context::primary_release($device, $call)
    };
    (context (reset) $n:ident $pt:literal $call:ident ($device:ident)) => {
        hooks::context::primary_release($device, $call)
    };
}

macro_rules! launch {
    ($stream:expr, $pt:literal, $call:ident) => {{
        #[cfg(feature = "bench-extra-50ns")]
        super::burn::burn();
        hooks::launch::launch($stream, $pt, $call)
    }};
}

/// Copies whose direction only the arguments tell.
macro_rules! asked_copy {
    (cuMemcpyBatchAsync, $stream:expr, $pt:literal, $call:ident, ($to:ident, $from:ident, $sizes:ident, $count:ident $(, $rest:ident)*)) => {
        // SAFETY: the application's own arrays of that many addresses.
        hooks::copy::descriptor(|| unsafe { copies::any_pair($to, $from, $count) }, $stream, $pt, $call)
    };
    (cuMemcpyBatchAsync_v2, $($rest:tt)*) => { asked_copy!(cuMemcpyBatchAsync, $($rest)*) };
    (cuMemcpy3DBatchAsync, $stream:expr, $pt:literal, $call:ident, ($count:ident, $list:ident $(, $rest:ident)*)) => {
        // SAFETY: the application's own array of that many descriptions.
        hooks::copy::descriptor(|| unsafe { copies::any($list, $count) }, $stream, $pt, $call)
    };
    (cuMemcpy3DBatchAsync_v2, $($rest:tt)*) => { asked_copy!(cuMemcpy3DBatchAsync, $($rest)*) };
    (cuMemcpy, $stream:expr, $pt:literal, $call:ident, ($to:ident, $from:ident $(, $rest:ident)*)) => {
        hooks::copy::unified($to, $from, $stream, $pt, $call)
    };
    (cuMemcpyAsync, $($rest:tt)*) => { asked_copy!(cuMemcpy, $($rest)*) };
    (cuMemcpyWithAttributesAsync, $($rest:tt)*) => { asked_copy!(cuMemcpy, $($rest)*) };
    ($described:ident, $stream:expr, $pt:literal, $call:ident, ($description:ident $(, $rest:ident)*)) => {
        // SAFETY: null, or the application's own description.
        hooks::copy::descriptor(|| unsafe { copies::one($description) }, $stream, $pt, $call)
    };
}

/// `cuLaunchCooperativeKernelMultiDevice`: one stream for each entry.
///
/// # Safety
/// `list` is null or holds `count` entries.
unsafe fn launch_list(list: *const CUDA_LAUNCH_PARAMS, count: c_uint, call: impl FnOnce() -> CUresult) -> CUresult {
    /// More devices than one process has, so that the streams fit on the stack.
    const MOST: usize = 64;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if list.is_null() || count > MOST {
        return call();
    }
    // SAFETY: see above.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    let mut streams = [ptr::null_mut(); MOST];
    streams.iter_mut().zip(list).for_each(|(stream, launch)| *stream = launch.hStream);
    #[cfg(feature = "bench-extra-50ns")]
    super::burn::burn();
    hooks::launch::launch_each(streams.get(..count).unwrap_or_default(), call)
}

mgpu_cuda::for_each_family!(wrappers);

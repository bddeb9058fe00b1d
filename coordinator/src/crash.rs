//! Places where a test may kill the daemon: `MGPUD_CRASH_AT=NAME` in a build with the feature `crash-points`. In a product
//! build a point is nothing.

/// Dies here, by SIGKILL to itself, if the test asked for this point.
#[cfg(feature = "crash-points")]
pub(crate) fn point(name: &str) {
    if std::env::var_os("MGPUD_CRASH_AT").is_some_and(|wanted| wanted == name) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "crash-points"))]
pub(crate) const fn point(_name: &str) {}

//! Waiting on conditions. The limit is generous because the machine's scheduler has long tails; a test that hits it is
//! broken, not slow.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a condition may take before the test is considered stuck.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Polls until `condition` gives a value.
///
/// # Panics
/// After [`LIMIT`], naming what was waited for.
pub fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < LIMIT, "waited {LIMIT:?} for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `command` to its end; what it said. For one that has to end by itself, and might not.
///
/// # Panics
/// If it can't be started, or has not ended within [`LIMIT`] (it is killed then).
#[must_use]
pub fn output(mut command: Command) -> Output {
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if start.elapsed() >= LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{command:?} has not ended within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

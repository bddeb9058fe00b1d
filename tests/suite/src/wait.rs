//! Waiting on conditions. The limit is generous because the machine's scheduler has long tails; a test that hits it is
//! broken, not slow.

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

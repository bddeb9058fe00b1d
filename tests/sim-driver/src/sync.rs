//! Locks that outlive a panic. It must never be used on the launch path.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. A panic inside the driver is fenced at the export, so what it left behind is still consistent enough
/// to go on with; refusing every later call would turn one failed call into a dead process.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

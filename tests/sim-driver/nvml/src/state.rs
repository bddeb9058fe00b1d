//! The connection behind the library: made by the first init, dropped by the last shutdown, made anew after a fork.

use crate::abi::{Handle, Return};
use mgpu_sim_link::{DeviceInfo, NvmlSample, Observer};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct State {
    /// Inits without their shutdown.
    users: u32,
    observer: Option<Observer>,
    /// Whose connection it is: a child must not talk on its parent's.
    pid: u32,
}

static STATE: Mutex<State> = Mutex::new(State { users: 0, observer: None, pid: 0 });

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// A live connection of this process.
    fn observer(&mut self) -> Result<&mut Observer, Return> {
        let pid = std::process::id();
        if self.pid != pid {
            // The parent's connection is left open, as a device file would be.
            std::mem::forget(self.observer.take());
            self.pid = pid;
        }
        if self.observer.is_none() {
            self.observer = Some(Observer::connect_default().map_err(|_| Return::DRIVER_NOT_LOADED)?);
        }
        self.observer.as_mut().ok_or(Return::DRIVER_NOT_LOADED)
    }
}

pub(crate) fn init() -> Return {
    let mut state = lock();
    match state.observer() {
        Ok(_) => {
            state.users += 1;
            Return::SUCCESS
        }
        Err(code) => code,
    }
}

pub(crate) fn shutdown() -> Return {
    let mut state = lock();
    match state.users {
        0 => return Return::UNINITIALIZED,
        1 => state.observer = None,
        _ => {}
    }
    state.users -= 1;
    Return::SUCCESS
}

/// Runs `ask` on the connection.
fn with<T>(ask: impl FnOnce(&mut Observer) -> Result<T, Return>) -> Result<T, Return> {
    let mut state = lock();
    if state.users == 0 {
        return Err(Return::UNINITIALIZED);
    }
    ask(state.observer()?)
}

/// All devices.
pub(crate) fn devices() -> Result<Vec<DeviceInfo>, Return> {
    with(|observer| Ok(observer.devices().to_vec()))
}

/// A device's handle.
pub(crate) fn handle(index: usize) -> Handle {
    std::ptr::without_provenance_mut(index + 1)
}

/// The index behind a handle, and what is fixed about that device.
pub(crate) fn device(handle: Handle) -> Result<(u32, DeviceInfo), Return> {
    let index = handle.addr().checked_sub(1).ok_or(Return::INVALID_ARGUMENT)?;
    let info = with(|observer| observer.devices().get(index).cloned().ok_or(Return::INVALID_ARGUMENT))?;
    Ok((u32::try_from(index).map_err(|_| Return::INVALID_ARGUMENT)?, info))
}

/// The device's last sample.
pub(crate) fn sample(handle: Handle) -> Result<NvmlSample, Return> {
    let (index, _) = device(handle)?;
    with(|observer| observer.nvml(index).map_err(|_| Return::GPU_IS_LOST))
}

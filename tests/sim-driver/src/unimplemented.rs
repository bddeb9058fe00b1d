//! What is not simulated says so: to the server, whose report fails tests, and on request to a person.

use std::sync::OnceLock;

use crate::error::{Fail, NOT_SUPPORTED};
use crate::state::driver;

/// Reports `name` and gives the error to return.
#[cold]
pub(crate) fn call(name: &str) -> Fail {
    static VERBOSE: OnceLock<bool> = OnceLock::new();
    if *VERBOSE.get_or_init(|| std::env::var_os("MGPU_SIM_VERBOSE").is_some_and(|v| v == "1")) {
        eprintln!("mgpu-sim-cuda: {name} is not simulated");
    }
    match driver() {
        Ok(driver) => {
            driver.session.report_unimplemented(name);
            NOT_SUPPORTED
        }
        Err(fail) => fail,
    }
}

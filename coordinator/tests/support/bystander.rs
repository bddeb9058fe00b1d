//! A process that does nothing, for a tenant to live with. Killed when dropped, so that a failed test leaves none.

use std::process::{Child, Command, Stdio};

pub(crate) struct Bystander(Child);

impl Bystander {
    pub(crate) fn start() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("sleep"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it; when this returns, it has gone.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("kill");
        self.0.wait().expect("wait");
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

//! A connection that only asks: NVML, the witness commands, a test's harness. The model does not count it as a process.

use super::{connect, find};
use crate::frame::{self, Inbox};
use crate::rpc::{Request, Response, Role};
use crate::types::{DeviceInfo, Error, NvmlSample};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A kept connection. Each question is one round trip; the server answers between two steps of the model.
#[derive(Debug)]
pub struct Observer {
    socket: UnixStream,
    inbox: Inbox,
    devices: Vec<DeviceInfo>,
}

impl Observer {
    /// Connects to the server at `path`.
    ///
    /// # Errors
    /// [`Error::NoServer`].
    pub fn connect(path: &Path) -> Result<Self, Error> {
        UnixStream::connect(path).and_then(Self::over).map_err(|_| Error::NoServer)
    }

    /// Connects to the server that a client of this process would use; starts one as that would.
    ///
    /// # Errors
    /// [`Error::NoServer`].
    pub fn connect_default() -> Result<Self, Error> {
        Self::over(find::server()?).map_err(|_| Error::NoServer)
    }

    fn over(socket: UnixStream) -> std::io::Result<Self> {
        let greeting = connect::greet(&socket, Role::Observer, &[])?;
        Ok(Self { socket, inbox: greeting.inbox, devices: greeting.devices })
    }

    /// All devices, in index order.
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// What NVML shows of a device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`], [`Error::ServerGone`].
    pub fn nvml(&mut self, device: u32) -> Result<NvmlSample, Error> {
        match self.ask(&Request::Nvml { device })? {
            Response::Nvml(sample) => Ok(*sample),
            _ => Err(Error::ServerGone),
        }
    }

    /// The witness as JSON.
    ///
    /// # Errors
    /// [`Error::ServerGone`].
    pub fn witness_json(&mut self) -> Result<String, Error> {
        self.json(&Request::Witness)
    }

    /// Residency segments per device since `since_ns`, as JSON.
    ///
    /// # Errors
    /// [`Error::ServerGone`].
    pub fn intervals_json(&mut self, since_ns: u64) -> Result<String, Error> {
        self.json(&Request::Intervals { since_ns })
    }

    /// Launch stamps since `since_ns`, as JSON.
    ///
    /// # Errors
    /// [`Error::ServerGone`].
    pub fn launches_json(&mut self, since_ns: u64) -> Result<String, Error> {
        self.json(&Request::Launches { since_ns })
    }

    /// Tells the server of a function that is not simulated.
    pub fn report_unimplemented(&mut self, name: &str) {
        // Nothing more can be done about a server that is gone.
        let _ = self.ask(&Request::Unimplemented { name: name.to_owned() });
    }

    fn json(&mut self, request: &Request) -> Result<String, Error> {
        match self.ask(request)? {
            Response::Json(text) => Ok(text),
            _ => Err(Error::ServerGone),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Response, Error> {
        let answer = frame::send(&self.socket, request, &[])
            .and_then(|()| frame::receive::<Response>(&self.socket, &mut self.inbox))
            .map_err(|_| Error::ServerGone)?;
        match answer {
            Response::Failed(error) => Err(error),
            answer => Ok(answer),
        }
    }
}

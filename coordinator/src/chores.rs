//! Two helper threads for what may take milliseconds: one writes the state file, one asks NVML, which may hang with its driver;
//! then neither a confirmation nor the daemon's end waits for it. Started before the loop takes a real-time class. They sleep
//! on their queues; answers wake the loop by an eventfd.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use mgpu_protocol::units::DeviceUuid;
use rustix::event::EventfdFlags;

use crate::nvml::{Gpu, GpuError};
use crate::state;

/// What the loop asks for.
#[derive(Debug)]
pub(crate) enum Chore {
    /// Write this state; answered by [`Done::Saved`] with the number.
    Save {
        /// Counts up; a saved number covers all lower ones.
        number: u64,
        /// The file's text.
        text: String,
    },
    /// Which processes hold memory on these devices?
    Processes {
        /// Devices to ask about.
        devices: Vec<DeviceUuid>,
    },
}

/// Bytes by pid that the driver lists on one device.
pub(crate) type Listed = BTreeMap<u32, Option<u64>>;

/// What was done.
#[derive(Debug)]
pub(crate) enum Done {
    /// The state file has everything up to this number; or the write failed, and why.
    Saved {
        /// As in [`Chore::Save`].
        number: u64,
        /// Why not.
        error: Option<std::io::Error>,
    },
    /// Answer to [`Chore::Processes`], by device.
    Processes(Vec<(DeviceUuid, Result<Listed, GpuError>)>),
}

/// The loop's end of the threads.
#[derive(Debug)]
pub(crate) struct Chores {
    writes: Option<Sender<Chore>>,
    questions: Sender<Chore>,
    answers: Receiver<Done>,
    bell: Arc<OwnedFd>,
    writer: Option<JoinHandle<()>>,
}

impl Chores {
    /// Starts the threads.
    ///
    /// # Errors
    /// No descriptor or thread left.
    pub(crate) fn start(gpu: Arc<Gpu>, state_file: PathBuf) -> std::io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(rustix::event::eventfd(0, flags)?);
        let (report, answers) = channel();
        let start = |name: &str| {
            let (queue, orders) = channel::<Chore>();
            let (report, ring) = (report.clone(), Arc::clone(&bell));
            let (gpu, state_file) = (Arc::clone(&gpu), state_file.clone());
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                while let Ok(chore) = orders.recv() {
                    let done = carry_out(chore, &gpu, &state_file);
                    if report.send(done).is_err() {
                        return;
                    }
                    let _ = rustix::io::write(&*ring, &1_u64.to_ne_bytes());
                }
            })?;
            Ok::<_, std::io::Error>((queue, thread))
        };
        let (writes, writer) = start("mgpud-state")?;
        // Never joined: it may hang.
        let (questions, _) = start("mgpud-nvml")?;
        Ok(Self { writes: Some(writes), questions, answers, bell, writer: Some(writer) })
    }

    /// Readable when an answer waits.
    pub(crate) fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// Hands a chore over; never blocks.
    pub(crate) fn ask(&self, chore: Chore) {
        let queue = match &chore {
            Chore::Save { .. } => self.writes.as_ref(),
            Chore::Processes { .. } => Some(&self.questions),
        };
        if let Some(queue) = queue {
            let _ = queue.send(chore);
        }
    }

    /// Takes the answers that wait.
    pub(crate) fn take(&self) -> Vec<Done> {
        let mut count = [0_u8; 8];
        let _ = rustix::io::read(&*self.bell, &mut count);
        self.answers.try_iter().collect()
    }

    /// Writes what was to be written and ends that thread; nobody asks NVML any more.
    pub(crate) fn finish(&mut self) -> Vec<Done> {
        self.writes = None;
        if let Some(thread) = self.writer.take() {
            let _ = thread.join();
        }
        self.answers.try_iter().collect()
    }
}

fn carry_out(chore: Chore, gpu: &Gpu, state_file: &std::path::Path) -> Done {
    match chore {
        Chore::Save { number, text } => Done::Saved { number, error: state::write(state_file, &text).err() },
        Chore::Processes { devices } => Done::Processes(
            devices
                .into_iter()
                .map(|uuid| (uuid, gpu.processes(uuid).map(|listed| listed.into_iter().collect())))
                .collect(),
        ),
    }
}

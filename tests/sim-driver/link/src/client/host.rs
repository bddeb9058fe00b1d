//! Host functions: a thread of this process that makes the calls a stream has come to, one after the other.

use super::{Session, Stream};
use crate::layout::HOST_CALLS;
use crate::op::Op;
use crate::types::Error;
use crate::wake;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// A function to call.
enum Call {
    Once(Box<dyn FnOnce() + Send>),
    Always(Arc<dyn Fn() + Send + Sync>),
}

#[derive(Default)]
struct State {
    calls: BTreeMap<u64, Call>,
    last: u64,
    running: bool,
}

/// The functions by token.
#[derive(Default)]
pub(super) struct Table(Mutex<State>);

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Table")
    }
}

impl Table {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function to call for a token; a single call is taken out.
    fn take(&self, token: u64) -> Option<Call> {
        let mut state = self.lock();
        match state.calls.get(&token)? {
            Call::Always(call) => Some(Call::Always(Arc::clone(call))),
            Call::Once(_) => state.calls.remove(&token),
        }
    }
}

impl Session {
    /// Runs `call` on the link's thread when the stream reaches it; the stream goes on after its return. The thread is
    /// started at the first use. Returns a ticket as [`Session::submit`] does. Within a graph, use
    /// [`Session::host_token`].
    ///
    /// # Errors
    /// As [`Session::submit`]; `call` is dropped then.
    pub fn host_func(&'static self, stream: Stream, call: Box<dyn FnOnce() + Send>) -> Result<u64, Error> {
        let token = self.add(Call::Once(call))?;
        self.submit(stream, &Op::HostFunc { token }).inspect_err(|_| {
            self.host.take(token);
        })
    }

    /// A token that runs `call` each time an [`Op::HostFunc`] with it is reached, until [`Session::drop_host_token`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the thread cannot be started.
    pub fn host_token(&'static self, call: Box<dyn Fn() + Send + Sync>) -> Result<u64, Error> {
        self.add(Call::Always(Arc::from(call)))
    }

    /// Forgets a token; an op that still holds it does nothing.
    pub fn drop_host_token(&self, token: u64) {
        self.host.lock().calls.remove(&token);
    }

    /// Puts a call in the table and sees to it that the thread runs.
    fn add(&'static self, call: Call) -> Result<u64, Error> {
        self.check()?;
        let mut state = self.host.lock();
        if !state.running {
            start(self).map_err(|_| Error::OutOfMemory)?;
            state.running = true;
        }
        state.last += 1;
        let token = state.last;
        state.calls.insert(token, call);
        Ok(token)
    }

    /// Makes calls until the server is gone.
    fn make_host_calls(&self) {
        let (tail, head) = (&self.region.host_tail, &self.region.host_head.0);
        loop {
            let next = head.load(Ordering::Relaxed);
            let there = || Ok::<_, Error>(tail.completed.load(Ordering::SeqCst) != next);
            if wake::block(tail, there, || self.look_around()).is_err() {
                return;
            }
            let call = &self.region.host_calls[usize::try_from(next % HOST_CALLS as u64).unwrap_or(0)];
            let (token, answer) = (call.token.load(Ordering::SeqCst), call.answer.load(Ordering::SeqCst));
            head.store(next.wrapping_add(1), Ordering::SeqCst);
            match self.host.take(token) {
                Some(Call::Once(call)) => call(),
                Some(Call::Always(call)) => call(),
                None => {}
            }
            if self.host_done(answer).is_err() {
                return;
            }
        }
    }
}

/// Starts the thread, with all signals blocked: the application's handlers must not run on it.
fn start(session: &'static Session) -> std::io::Result<()> {
    // SAFETY: sigset_t is plain data; filled on the next line.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid set.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: both sets are valid; the mask of this thread only, put back below.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let thread = std::thread::Builder::new().name("sim-host-calls".into()).spawn(|| session.make_host_calls());
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    thread.map(drop)
}

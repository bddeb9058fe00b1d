//! Contexts and code: their making, and what they cost.

use std::collections::{BTreeSet, VecDeque};

use crate::arena::Arena;
use crate::ids::{ContextId, DeviceId, FunctionId, ModuleId, Nanos, ProcessId, StreamId};
use crate::kernel::Rule;
use crate::memory::Line;
use crate::model::Model;
use crate::objects::{Channel, Context, Function, Module, Stream};
use crate::op::Refusal;

impl Model {
    /// Makes a context (the driver knows which one is primary). Costs `context_bytes` of overhead.
    pub fn create_context(&mut self, at: Nanos, process: ProcessId, device: DeviceId) -> Result<ContextId, Refusal> {
        self.run_to(at);
        self.live_process(process)?;
        if device.index() >= self.devices.len() {
            return Err(Refusal::NoSuchObject);
        }
        let overhead = self.profile.memory.context_bytes;
        self.charge(process, device, Line::Overhead, overhead)?;
        let (context, legacy) = (ContextId(self.contexts.next()), StreamId(self.streams.next()));
        let stream = Stream { context, channel: 0, blocking: false, priority: 0, tail: None, destroyed: false };
        self.streams.insert(stream);
        let channels = (0..self.profile.compute.channels.max(1)).map(|_| Channel::default()).collect();
        self.contexts.insert(Context {
            process,
            device,
            dead: None,
            gone: false,
            legacy,
            blocking: Vec::new(),
            leaving: Vec::new(),
            channels,
            next_channel: 1,
            pending: VecDeque::new(),
            running: Vec::new(),
            in_line: false,
            drawn: 0,
            small: Arena::default(),
            overhead,
            managed_away: BTreeSet::new(),
        });
        Ok(context)
    }

    /// Registers a module. Its memory (code + `module_bytes`) is charged as overhead at the first launch out of it, or the
    /// instantiation of a graph with such a launch (lazy loading).
    pub fn load_module(&mut self, at: Nanos, context: ContextId, code_bytes: u64) -> Result<ModuleId, Refusal> {
        self.run_to(at);
        self.live_context(context)?;
        let bytes = code_bytes.saturating_add(self.profile.memory.module_bytes);
        Ok(ModuleId(self.modules.insert(Module { context, bytes, loaded: false })))
    }

    /// Unloads it and gives its memory back. Its functions may not be launched any more.
    pub fn unload_module(&mut self, at: Nanos, module: ModuleId) -> Result<(), Refusal> {
        self.run_to(at);
        let Module { context, bytes, loaded } = self.modules.remove(module.0).ok_or(Refusal::NoSuchObject)?;
        if loaded {
            let (process, device) = self.home(context);
            self.uncharge(process, device, Line::Overhead, bytes);
            if let Some(owner) = self.contexts.get_mut(context.0) {
                owner.overhead -= bytes;
            }
        }
        Ok(())
    }

    /// Registers a kernel function. Rules by name (plain or mangled): `spin_1ms`, `x_500us_y`, `y_20ns`, `z_2s` set the
    /// duration; a name that begins with `fault` makes its context die at the kernel's end ([`crate::Fault`]).
    pub fn create_function(&mut self, at: Nanos, module: ModuleId, name: &str) -> Result<FunctionId, Refusal> {
        self.run_to(at);
        let context = self.modules.get(module.0).ok_or(Refusal::NoSuchObject)?.context;
        self.live_context(context)?;
        Ok(FunctionId(self.functions.insert(Function { module, rule: Rule::of(name) })))
    }

    /// Loads the function's module if it is not on the device yet.
    pub(crate) fn load_lazily(&mut self, function: FunctionId) -> Result<(), Refusal> {
        let (module, &Module { context, bytes, loaded }) = self.module_of(function)?;
        if loaded {
            return Ok(());
        }
        let (process, device) = self.home(context);
        self.charge(process, device, Line::Overhead, bytes)?;
        if let Some(module) = self.modules.get_mut(module.0) {
            module.loaded = true;
        }
        if let Some(owner) = self.contexts.get_mut(context.0) {
            owner.overhead += bytes;
        }
        Ok(())
    }
}

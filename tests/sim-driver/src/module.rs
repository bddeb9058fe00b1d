//! Loaded code: modules and libraries (one kind of object here), their functions and variables.
//!
//! A `CUkernel` and a `CUfunction` are the same object, so each may stand for the other. It must never execute anything.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use mgpu_sim_link::{ContextId, FunctionId, ModuleId};

use crate::attributes;
use crate::context::{self, Context};
use crate::error::{INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND, OUT_OF_MEMORY, Res};
use crate::image::{Image, Parameter};
use crate::memory::{self, Kind, Range};
use crate::slots::{Slots, handle_of};
use crate::state::driver;
use crate::sync::lock;

/// A module of a context, or a library (which belongs to none until it is used in one).
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) is_library: AtomicU32,
    context_id: AtomicU64,
    body: Mutex<Body>,
}

#[derive(Debug, Default)]
struct Body {
    image: Image,
    /// The server's module, by the context it was charged to.
    link: Option<(ContextId, ModuleId)>,
    functions: BTreeMap<String, &'static Function>,
    globals: BTreeMap<String, (usize, usize)>,
}

/// A kernel.
#[derive(Debug, Default)]
pub(crate) struct Function {
    module: AtomicPtr<Module>,
    link: AtomicU32,
    /// Zero until a context has the code: then launches need no look at the module.
    linked: AtomicU32,
    pub(crate) max_dynamic_shared: AtomicI32,
    pub(crate) carveout: AtomicI32,
    /// Set by the legacy calls: block shape and shared memory of the next `cuLaunch`.
    pub(crate) shape: [AtomicU32; 4],
    body: Mutex<FunctionBody>,
}

#[derive(Debug, Default)]
struct FunctionBody {
    /// Names that were handed out; they live as long as the process.
    name: OnceLock<&'static CString>,
    parameters: Option<Vec<Parameter>>,
}

pub(crate) static MODULES: Slots<Module> = Slots::new(1 << 16);
pub(crate) static FUNCTIONS: Slots<Function> = Slots::new(1 << 18);

/// A variable that the image does not describe gets this much.
const GLOBAL_BYTES: usize = 64 << 10;

/// Loads an image; for a module, its code is registered with the context at once.
///
/// # Errors
/// [`OUT_OF_MEMORY`]; those of the link.
pub(crate) fn load(image: Image, context: Option<&'static Context>) -> Res<&'static Module> {
    let module = MODULES.insert(|m| {
        m.is_library.store(u32::from(context.is_none()), Ordering::Relaxed);
        m.context_id.store(context.map_or(0, Context::id), Ordering::Relaxed);
        *lock(&m.body) = Body { image, ..Body::default() };
    });
    let module = module.ok_or(OUT_OF_MEMORY)?;
    if let Some(context) = context {
        module.attach(context)?;
    }
    Ok(module)
}

/// The live module or library behind a handle.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Module> {
    MODULES.get(handle).ok_or(INVALID_HANDLE)
}

/// The live function behind a `CUfunction` or `CUkernel`.
///
/// # Errors
/// [`INVALID_HANDLE`].
#[inline]
pub(crate) fn find_function(handle: *const ()) -> Res<&'static Function> {
    FUNCTIONS.get(handle).ok_or(INVALID_HANDLE)
}

/// Ends a module or library with its functions and variables.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn unload(handle: *const ()) -> Res {
    let module = MODULES.remove(handle).ok_or(INVALID_HANDLE)?;
    let body = std::mem::take(&mut *lock(&module.body));
    for function in body.functions.into_values() {
        if let Some(function) = FUNCTIONS.remove(handle_of(function)) {
            FUNCTIONS.recycle(function);
        }
    }
    for (start, _) in body.globals.into_values() {
        if let Some(range) = memory::remove(start) {
            lock(&memory::ARENA).give(range.start, range.span);
        }
    }
    let result = body.link.map_or(Ok(()), |(_, module)| driver()?.session.unload_module(module).map_err(Into::into));
    MODULES.recycle(module);
    result
}

/// Ends the modules of a context; libraries only lose their place in it.
pub(crate) fn drop_context(context: &Context) {
    let id = context.id();
    for module in MODULES.live() {
        if module.context_id.load(Ordering::Relaxed) != id {
            continue;
        }
        if module.is_library.load(Ordering::Relaxed) != 0 {
            module.detach();
        } else {
            lock(&module.body).link = None;
            // Two threads that end the same module: one of them has done it.
            let _ = unload(handle_of(module));
        }
    }
}

impl Module {
    /// Registers the code with `context`, once.
    fn attach(&self, context: &Context) -> Res<ModuleId> {
        let mut body = lock(&self.body);
        if let Some((_, module)) = body.link {
            return Ok(module);
        }
        let link = driver()?.session.load_module(context.link_id(), body.image.bytes as u64)?;
        body.link = Some((context.link_id(), link));
        self.context_id.store(context.id(), Ordering::Relaxed);
        Ok(link)
    }

    fn detach(&self) {
        let mut body = lock(&self.body);
        body.link = None;
        body.globals.clear();
        for function in body.functions.values() {
            function.linked.store(0, Ordering::Release);
        }
        self.context_id.store(0, Ordering::Relaxed);
    }

    /// The function of this name; any name will do unless the image was read whole and lacks it.
    ///
    /// # Errors
    /// [`NOT_FOUND`], [`OUT_OF_MEMORY`].
    pub(crate) fn function(&'static self, name: &str) -> Res<&'static Function> {
        let mut body = lock(&self.body);
        if let Some(function) = body.functions.get(name) {
            return Ok(function);
        }
        let parameters = body.image.kernels.get(name).cloned();
        if parameters.is_none() && (body.image.complete || name.is_empty()) {
            return Err(NOT_FOUND);
        }
        let c_name = CString::new(name).map_err(|_| NOT_FOUND)?;
        let function = FUNCTIONS.insert(|f| {
            f.module.store(std::ptr::from_ref(self).cast_mut(), Ordering::Relaxed);
            f.linked.store(0, Ordering::Relaxed);
            f.max_dynamic_shared.store(attributes::SHARED_PER_BLOCK, Ordering::Relaxed);
            f.carveout.store(-1, Ordering::Relaxed);
            for (field, value) in f.shape.iter().zip([1, 1, 1, 0]) {
                field.store(value, Ordering::Relaxed);
            }
            let name = OnceLock::from(&*Box::leak(Box::new(c_name)));
            *lock(&f.body) = FunctionBody { name, parameters };
        });
        let function = function.ok_or(OUT_OF_MEMORY)?;
        body.functions.insert(name.to_owned(), function);
        Ok(function)
    }

    /// Names of all kernels that are known: those of the image, and those that were asked for.
    pub(crate) fn names(&self) -> Vec<String> {
        let body = lock(&self.body);
        let mut names: Vec<String> = body.image.kernels.keys().chain(body.functions.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Address and size of a variable, made at the first question and kept.
    ///
    /// # Errors
    /// [`NOT_FOUND`] when the image was read whole and lacks it; [`OUT_OF_MEMORY`].
    pub(crate) fn global(&self, name: &str, context: &'static Context) -> Res<(usize, usize)> {
        self.attach(context)?;
        let mut body = lock(&self.body);
        if let Some(found) = body.globals.get(name) {
            return Ok(*found);
        }
        let known = body.image.globals.get(name).copied().filter(|size| *size > 0);
        let bytes = match known {
            Some(bytes) => bytes,
            None if body.image.complete => return Err(NOT_FOUND),
            None => GLOBAL_BYTES,
        };
        let (start, span) = lock(&memory::ARENA).take(bytes, 1).ok_or(OUT_OF_MEMORY)?;
        memory::insert(Range { span, ..Range::new(start, bytes, Kind::Global, context) });
        body.globals.insert(name.to_owned(), (start, bytes));
        Ok((start, bytes))
    }
}

impl Function {
    /// The function's number at the server; its code is registered with the current context at the first question.
    ///
    /// # Errors
    /// [`INVALID_CONTEXT`] when there is none to register it with; those of the link.
    #[inline]
    pub(crate) fn link_id(&self) -> Res<FunctionId> {
        if self.linked.load(Ordering::Acquire) != 0 {
            return Ok(FunctionId(self.link.load(Ordering::Relaxed)));
        }
        self.link_slow()
    }

    #[cold]
    fn link_slow(&self) -> Res<FunctionId> {
        let context = context::current().map_err(|_| INVALID_CONTEXT)?;
        let module = self.module()?.attach(context)?;
        let name = self.name();
        let link = driver()?.session.register_function(module, &name.to_string_lossy())?;
        self.link.store(link.0, Ordering::Relaxed);
        self.linked.store(1, Ordering::Release);
        Ok(link)
    }

    /// The module that it came from.
    ///
    /// # Errors
    /// [`INVALID_HANDLE`] after that was unloaded.
    pub(crate) fn module(&self) -> Res<&'static Module> {
        find(self.module.load(Ordering::Relaxed).cast_const().cast())
    }

    /// Its name; stays valid for the process's life.
    pub(crate) fn name(&self) -> &'static CString {
        static NONE: OnceLock<CString> = OnceLock::new();
        lock(&self.body).name.get().copied().unwrap_or_else(|| NONE.get_or_init(CString::default))
    }

    /// Its parameters, where the image told them.
    pub(crate) fn parameters(&self) -> Option<Vec<Parameter>> {
        lock(&self.body).parameters.clone()
    }
}

//! The classes and decisions of the table, as data.

macro_rules! classes {
    ($($(#[$doc:meta])* $word:ident $variant:ident;)*) => {
        /// What a family of functions does to a GPU, and so what mgpu has to do about it. The detail of a row (in the
        /// parentheses) is given with each class.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Class { $($(#[$doc])* $variant,)* }

        impl Class {
            /// Every class, in the order of the table's documentation.
            pub const ALL: &[Class] = &[$(Class::$variant),*];

            /// The word that the rows use.
            pub const fn word(self) -> &'static str {
                match self { $(Class::$variant => stringify!($word),)* }
            }
        }

        macro_rules! class { $(($word) => { $crate::Class::$variant };)* }
    };
}

classes! {
    /// `start()`: initialises the driver; the client attaches to its tenant after it has succeeded.
    start Start;
    /// `loader()`: hands out functions; the answer is the wrapper of exactly the ABI that the driver gave.
    loader Loader;
    /// `memory(kind …)`: makes device memory (or brings another process's in): reserve, call, commit. Kinds: `plain`,
    /// `pitch`, `managed`, `ordered STREAM`, `from_pool POOL STREAM`, `physical`, `array`, `mipmap`, `import`,
    /// `external`.
    memory Memory;
    /// `free(kind …)`: gives memory back; always reaches the driver, uncharges on success. Kinds: `plain`,
    /// `ordered STREAM`, `physical`, `array`, `import`, `external`.
    free Free;
    /// `reference(kind)`: takes or drops a reference that decides when memory goes: `export`, `handle`, `map`,
    /// `unmap`, `bind`, `suspend`.
    reference Reference;
    /// `pool(kind)`: changes a pool or its reserved bytes: `create`, `destroy`, `trim`, `set`, `current`.
    pool Pool;
    /// `memory_info(kind)`: tells how much memory there is; answered with the tenant's world. `total` or
    /// `free_total`.
    memory_info MemoryInfo;
    /// `launch(where …)`: puts GPU work in a queue: gated. `stream STREAM`, `context` (the default stream of the
    /// current context), `config CONFIG` (the stream is in that structure), `list LIST COUNT` (one stream each),
    /// `graph EXEC STREAM`.
    launch Launch;
    /// `fill(where …)`: a memset, which runs as a kernel: gated. `context` or `stream STREAM`.
    fill Fill;
    /// `copy(kind where …)`: `device` copies are gated like kernels, `host` ones never; `ask`: the direction follows
    /// from the arguments, so the pointers or the structure must be asked. Where: `context` (and then the call is
    /// synchronous) or `stream STREAM`.
    copy Copy;
    /// `sync(where …)`: blocks until work is done: `context`, `stream STREAM`, `event EVENT`. Never gated; before it,
    /// an unmarked tail gets its marker.
    sync Sync;
    /// `query(where …)`: asks whether work is done: `stream STREAM`, `event EVENT`. Never gated, never altered.
    query Query;
    /// `stream(what …)`: `create`, `destroy STREAM`, `capture_begin STREAM`, `capture_end STREAM`.
    stream Stream;
    /// `context(what)`: `create`, `retain`, `release`, `reset`, `destroy`, `limit`. The driver frees in bulk with the
    /// last of them; creating is never refused.
    context Context;
    /// `module(what)`: `load` and `unload` of device code.
    module Module;
    /// `graph(what)`: what can carry device memory in or out of a graph: `add_alloc`, `add_free`, `add_any`,
    /// `set_any`, `instantiate`, `upload`, `update`, `destroy`.
    graph Graph;
    /// `pass()`: nothing that mgpu guards; the words of its `because` name what it cannot touch.
    pass Pass;
}

/// What this version does with a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Hooked: the class brings the behaviour.
    Now,
    /// In this version the call reaches the driver unhooked. Which issue changes that, and what it leaves open.
    Later(&'static str),
    /// Never hooked, for this reason.
    Because(&'static str),
}

impl Status {
    /// The word that the rows use.
    pub const fn word(self) -> &'static str {
        match self {
            Status::Now => "now",
            Status::Later(_) => "later",
            Status::Because(_) => "because",
        }
    }

    /// The words of the row, empty for [`Status::Now`].
    pub const fn words(self) -> &'static str {
        match self {
            Status::Now => "",
            Status::Later(words) | Status::Because(words) => words,
        }
    }
}

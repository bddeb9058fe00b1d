//! What each class of functions does with a call. The table chooses the class; these choose nothing about names.

pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod init;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod query;
pub(crate) mod stream;
pub(crate) mod sync;

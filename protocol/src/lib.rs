//! The shared pages and the socket messages: the only thing that shim and coordinator both know.

//! The socket messages.

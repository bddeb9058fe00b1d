//! mgpud, the coordinator daemon of a node.
mod config;
fn main() {}

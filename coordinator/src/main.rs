//! mgpud, the coordinator daemon of a node.

fn main() {}

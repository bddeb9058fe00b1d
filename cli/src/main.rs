//! mgpu, what people type.

fn main() {}

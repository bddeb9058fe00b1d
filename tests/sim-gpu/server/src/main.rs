//! The server process around the model of a simulated GPU.

fn main() {}

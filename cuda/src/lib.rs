//! The surface of the CUDA driver: the types that we touch and the one list of its symbols.

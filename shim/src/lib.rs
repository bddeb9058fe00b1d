//! libmgpu_shim.so: exports, resolver and adapters. It decides nothing.

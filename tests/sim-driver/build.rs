//! The library is loaded as `libcuda.so.1` and resolves its own names within itself.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    // Without this, a preloaded library's exports would catch calls between our own functions.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}

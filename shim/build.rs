//! How the preload library is linked.

fn main() {
    for argument in [
        // Calls inside the library stay inside it, whatever the application defines.
        "-Wl,-Bsymbolic",
        // Its code is the target of pointers that the application keeps: never unloaded, even if it was opened by hand.
        "-Wl,-z,nodelete",
        // The unwinder comes from the archive instead of libgcc_s.so.1, which a small image may lack: a preload library that
        // cannot be loaded ends every process of a container.
        "-Wl,--push-state,--whole-archive,-l:libgcc_eh.a,--pop-state",
        "-Wl,--as-needed",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

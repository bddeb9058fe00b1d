//! How the preload library is linked.

fn main() {
    for argument in [
        // Calls inside the library stay inside it, whatever the application defines.
        "-Wl,-Bsymbolic",
        // Its code is the target of pointers that the application keeps: never unloaded, even if it was opened by hand.
        "-Wl,-z,nodelete",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}

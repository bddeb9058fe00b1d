//! The committed `docs/hooks.md` is what the table says now.
#[path = "../examples/hooks_md.rs"]
mod hooks_md;

#[test]
fn committed_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hooks.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let current = hooks_md::render() == committed;
    assert!(current, "docs/hooks.md is stale: cargo run -p mgpu-cuda --example hooks_md > docs/hooks.md");
}

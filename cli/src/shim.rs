//! Finding `libmgpu_shim.so` and reading its version out of the file, without loading it into this process.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

const NAME: &str = "libmgpu_shim.so";
const MARK: &[u8] = b"mgpu-shim-version=";

/// What a shim says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShimVersion {
    /// Of the shim.
    pub(crate) version: String,
    /// Session protocol that it speaks.
    pub(crate) protocol: u16,
    /// Page layout that it reads.
    pub(crate) page: u16,
}

/// The shim's path: `MGPU_SHIM`, else beside this command, else `../lib/mgpu` and `../lib`.
///
/// # Errors
/// It is in none of these places.
pub(crate) fn find() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os("MGPU_SHIM").map(PathBuf::from) {
        let absolute =
            path.canonicalize().map_err(|e| Failure::environment(format!("MGPU_SHIM {}: {e}", path.display())))?;
        return usable(absolute);
    }
    let me = std::env::current_exe().map_err(|e| Failure::environment(format!("my own path: {e}")))?;
    let here = me.parent().unwrap_or(Path::new("/"));
    let tried = [here.join(NAME), here.join("../lib/mgpu").join(NAME), here.join("../lib").join(NAME)];
    match tried.iter().find_map(|path| path.canonicalize().ok()) {
        Some(path) => usable(path),
        None => Err(Failure::environment(format!(
            "{NAME} is not beside {} nor in ../lib/mgpu or ../lib: MGPU_SHIM names it",
            me.display()
        ))),
    }
}

/// The loader takes spaces and colons in LD_PRELOAD as separators.
fn usable(path: PathBuf) -> Result<PathBuf, Failure> {
    match path.to_str() {
        Some(text) if !text.contains([' ', ':', '\n']) => Ok(path),
        _ => Err(Failure::environment(format!(
            "{}: a path with spaces or colons can't be preloaded; put the library elsewhere",
            path.display()
        ))),
    }
}

/// Reads the version that stands in the file.
///
/// # Errors
/// The file can't be read, or is no shim of mgpu.
pub(crate) fn version(path: &Path) -> Result<ShimVersion, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::environment(format!("{}: {e}", path.display())))?;
    // The mark also stands alone where code compares with it, so every place is tried.
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        rest = rest.get(at + MARK.len()..).unwrap_or_default();
        let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len()).min(100);
        if let Some(found) = rest.get(..end).and_then(|text| std::str::from_utf8(text).ok()).and_then(parse) {
            return Ok(found);
        }
    }
    Err(Failure::environment(format!("{} is no shim of mgpu: it does not say its version", path.display())))
}

fn parse(text: &str) -> Option<ShimVersion> {
    let mut fields = text.split(';');
    let version = fields.next()?.to_owned();
    let mut number = |name: &str| fields.next()?.strip_prefix(name)?.parse().ok();
    Some(ShimVersion { version, protocol: number("protocol=")?, page: number("page=")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_a_file_of_other_bytes() {
        let path = std::env::temp_dir().join(format!("mgpu-unit-shim-{}", std::process::id()));
        std::fs::write(&path, b"\x7fELF mgpu-shim-version=\0..mgpu-shim-version=0.1.0;protocol=1;page=2;\0tail")
            .expect("write");
        let expected = ShimVersion { version: "0.1.0".to_owned(), protocol: 1, page: 2 };
        assert_eq!(version(&path).expect("found"), expected);
        std::fs::write(&path, b"\x7fELF something else").expect("write");
        assert!(version(&path).expect_err("none").to_string().contains("no shim"));
        std::fs::remove_file(&path).expect("clean");
    }

    #[test]
    fn a_path_that_the_loader_would_split_is_refused() {
        assert!(usable(PathBuf::from("/a b/x.so")).is_err());
        assert!(usable(PathBuf::from("/a/x.so")).is_ok());
    }
}

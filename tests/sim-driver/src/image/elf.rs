//! Cubins: 64-bit ELF with a `.text.NAME` and a `.nv.info.NAME` section for each kernel.
//! It must never read outside the bytes that it is given.

use super::{Image, Parameter, read_u16, read_u32, read_u64};

const SYMBOLS: u32 = 2;
const TYPE_OBJECT: u8 = 1;
/// Attribute of `.nv.info.NAME`: one parameter {index u32, ordinal u16, offset u16, packed u32 with the size from bit 18}.
const KPARAM_INFO: u8 = 0x17;
/// Attributes with this format carry a u16 length and that many bytes; the others carry their value in place.
const SIZED: u8 = 4;

/// Length of the file by its header: the end of the farthest table.
pub(super) fn size(header: &[u8]) -> Option<usize> {
    let sections = end_of_table(header, 40, 58, 60)?;
    let segments = end_of_table(header, 32, 54, 56)?;
    Some(sections.max(segments))
}

fn end_of_table(header: &[u8], offset: usize, entry: usize, count: usize) -> Option<usize> {
    let start = usize::try_from(read_u64(header, offset)?).ok()?;
    start.checked_add(usize::from(read_u16(header, entry)?) * usize::from(read_u16(header, count)?))
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    link: usize,
    body: &'a [u8],
}

/// Kernels and globals of a cubin.
pub(super) fn scan(bytes: &[u8]) -> Image {
    let mut image = Image { bytes: bytes.len(), ..Image::default() };
    let Some(sections) = sections(bytes) else { return image };
    for section in &sections {
        if let Some(name) = section.name.strip_prefix(".nv.info.") {
            image.kernels.insert(name.to_owned(), parameters(section.body));
        }
    }
    // A device function has its own text but no entry; kernels without parameters have an entry in `.nv.info` all the same.
    image.globals = globals(&sections).into_iter().collect();
    image.complete = !image.kernels.is_empty();
    image
}

fn sections(bytes: &[u8]) -> Option<Vec<Section<'_>>> {
    let table = usize::try_from(read_u64(bytes, 40)?).ok()?;
    let (entry, count) = (usize::from(read_u16(bytes, 58)?), usize::from(read_u16(bytes, 60)?));
    let names = usize::from(read_u16(bytes, 62)?);
    let header = |i: usize| bytes.get(table.checked_add(i * entry)?..table.checked_add((i + 1) * entry)?);
    let body = |head: &[u8]| {
        let start = usize::try_from(read_u64(head, 24)?).ok()?;
        let length = usize::try_from(read_u64(head, 32)?).ok()?;
        bytes.get(start..start.checked_add(length)?)
    };
    let strings = body(header(names)?)?;
    let mut all = Vec::with_capacity(count);
    for i in 0..count {
        let head = header(i)?;
        let kind = read_u32(head, 4)?;
        all.push(Section {
            name: text(strings, read_u32(head, 0)?)?,
            kind,
            link: usize::try_from(read_u32(head, 40)?).ok()?,
            body: body(head).unwrap_or(&[]),
        });
    }
    Some(all)
}

fn text(strings: &[u8], at: u32) -> Option<&str> {
    let tail = strings.get(usize::try_from(at).ok()?..)?;
    let end = tail.iter().position(|b| *b == 0)?;
    std::str::from_utf8(&tail[..end]).ok()
}

fn parameters(info: &[u8]) -> Vec<Parameter> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(head) = info.get(at..at + 4) {
        let (format, attribute) = (head[0], head[1]);
        let length = if format == SIZED { usize::from(u16::from_le_bytes([head[2], head[3]])) } else { 0 };
        let body = info.get(at + 4..at + 4 + length).unwrap_or(&[]);
        if attribute == KPARAM_INFO
            && let (Some(ordinal), Some(offset), Some(packed)) =
                (read_u16(body, 4), read_u16(body, 6), read_u32(body, 8))
        {
            let size = usize::try_from(packed >> 18).unwrap_or(0);
            found.push((ordinal, Parameter { offset: usize::from(offset), size }));
        }
        at += 4 + length;
    }
    found.sort_unstable_by_key(|(ordinal, _)| *ordinal);
    found.into_iter().map(|(_, parameter)| parameter).collect()
}

/// Data objects of the symbol table: {name u32, info u8, other u8, section u16, value u64, size u64}.
fn globals(sections: &[Section<'_>]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for table in sections.iter().filter(|s| s.kind == SYMBOLS) {
        let Some(strings) = sections.get(table.link) else { continue };
        for symbol in table.body.chunks_exact(24) {
            let is_object = symbol[4] & 0xf == TYPE_OBJECT;
            if let (true, Some(name), Some(size)) =
                (is_object, read_u32(symbol, 0).and_then(|at| text(strings.body, at)), read_u64(symbol, 16))
            {
                found.push((name.to_owned(), usize::try_from(size).unwrap_or(0)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_in_their_order() {
        let mut info = vec![4, 0x17, 12, 0];
        info.extend_from_slice(&[0, 0, 0, 0, 1, 0, 8, 0]);
        info.extend_from_slice(&(4_u32 << 18).to_le_bytes());
        info.extend_from_slice(&[3, 0x19, 12, 0]);
        info.extend_from_slice(&[4, 0x17, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        info.extend_from_slice(&(8_u32 << 18).to_le_bytes());
        let expected = [Parameter { offset: 0, size: 8 }, Parameter { offset: 8, size: 4 }];
        assert_eq!(parameters(&info), expected);
    }

    #[test]
    fn nonsense_is_an_open_list() {
        assert!(!scan(&[0x7f, b'E', b'L', b'F']).complete);
        assert!(!scan(&[0xff; 256]).complete);
    }
}

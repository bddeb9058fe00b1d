//! PTX text: `.entry NAME ( .param .TYPE NAME[SIZE], … )` and module-level variables.
//! It must never judge whether the text would assemble.

use super::{Image, Parameter};

/// Kernels and globals of a PTX text. Text without `.version` is not PTX, and then anything goes.
pub(super) fn scan(text: &str) -> Image {
    let mut image = Image { bytes: text.len(), complete: text.contains(".version"), ..Image::default() };
    if !image.complete {
        return image;
    }
    let text = without_comments(text);
    for piece in text.split(".entry").skip(1) {
        let name: String = piece.trim_start().chars().take_while(|c| is_name(*c)).collect();
        if name.is_empty() {
            continue;
        }
        let after = &piece.trim_start()[name.len()..];
        let list = after.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(l, _)| l);
        image.kernels.insert(name, parameters(list));
    }
    for line in text.lines().filter(|l| l.contains(".global") || l.contains(".const")) {
        if let Some((name, size)) = global(line) {
            image.globals.insert(name, size);
        }
    }
    image
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code)).collect::<Vec<_>>().join("\n")
}

fn parameters(list: &str) -> Vec<Parameter> {
    let mut offset = 0_usize;
    let mut found = Vec::new();
    for declaration in list.split(',').filter(|d| d.contains(".param")) {
        let (size, align) = size_and_align(declaration);
        offset = offset.next_multiple_of(align.max(1));
        found.push(Parameter { offset, size });
        offset += size;
    }
    found
}

/// Size and alignment of one declaration such as `.param .align 8 .b8 name[24]`.
fn size_and_align(declaration: &str) -> (usize, usize) {
    let mut words = declaration.split_whitespace();
    let (mut element, mut align) = (0, 0);
    while let Some(word) = words.next() {
        if word == ".align" {
            align = words.next().and_then(|w| w.parse().ok()).unwrap_or(1);
        } else if let Some(bytes) = type_bytes(word) {
            element = bytes;
        }
    }
    let count = declaration.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let count = count.and_then(|(n, _)| n.trim().parse().ok()).unwrap_or(1_usize);
    (element.saturating_mul(count), align.max(element).min(16))
}

fn type_bytes(word: &str) -> Option<usize> {
    let digits = word.strip_prefix('.')?.trim_start_matches(|c: char| c.is_ascii_lowercase());
    match digits {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        "128" => Some(16),
        _ => None,
    }
}

/// `.visible .global .align 4 .b8 name[16] = {..};` at module level (a line that starts with the directive).
fn global(line: &str) -> Option<(String, usize)> {
    let line = line.trim_start();
    let declaration = line.split(['=', ';']).next()?;
    let is_declaration =
        [".visible", ".extern", ".weak", ".common", ".global", ".const"].iter().any(|d| line.starts_with(d));
    if !is_declaration || declaration.contains(".entry") {
        return None;
    }
    let last = declaration.split_whitespace().last()?;
    let name: String = last.chars().take_while(|c| is_name(*c)).collect();
    let (size, _) = size_and_align(declaration);
    (!name.is_empty() && size > 0).then_some((name, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_parameters_and_globals_are_found() {
        let image = scan(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .global .align 4 .b8 table[64];\n.global .u32 counter = 1;\n\
             .visible .entry saxpy( // the kernel\n .param .u64 a, .param .f32 k,\n .param .align 8 .b8 box[24],\n .param .u32 n)\n{ ret; }\n\
             .entry empty() { ld.global.u32 %r1, [%rd1]; ret; }",
        );
        assert!(image.complete);
        let saxpy = &image.kernels["saxpy"];
        let expected = [(0, 8), (8, 4), (16, 24), (40, 4)].map(|(offset, size)| Parameter { offset, size });
        assert_eq!(saxpy[..], expected);
        assert!(image.kernels["empty"].is_empty());
        assert_eq!(image.globals["table"], 64);
        assert_eq!(image.globals["counter"], 4);
        assert_eq!(image.globals.len(), 2);
    }
}

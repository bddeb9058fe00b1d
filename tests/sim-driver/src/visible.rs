//! Which devices a process sees: `CUDA_VISIBLE_DEVICES` as the real driver reads it.
//! It must never know how devices are found, only their UUIDs.

/// The visible devices, as indices into `uuids`, in the order that the variable names them.
///
/// Indices may have a tail that is ignored (`1gpu` is 1). `GPU-` UUIDs may be cut short while they stay unique. The list ends
/// before the first entry that names no device; naming one twice leaves none at all.
pub(crate) fn select(variable: Option<&str>, uuids: &[[u8; 16]]) -> Vec<usize> {
    let Some(list) = variable else { return (0..uuids.len()).collect() };
    let by_uuid = list.trim_start().starts_with("GPU-");
    let mut chosen = Vec::new();
    for entry in list.split(',') {
        let entry = entry.trim();
        let found = if by_uuid { by_prefix(entry, uuids) } else { by_index(entry, uuids.len()) };
        match found {
            Some(index) if chosen.contains(&index) => return Vec::new(),
            Some(index) => chosen.push(index),
            None => break,
        }
    }
    chosen
}

fn by_index(entry: &str, devices: usize) -> Option<usize> {
    let end = entry.find(|c: char| !c.is_ascii_digit()).unwrap_or(entry.len());
    entry[..end].parse().ok().filter(|index| *index < devices)
}

fn by_prefix(entry: &str, uuids: &[[u8; 16]]) -> Option<usize> {
    if !entry.starts_with("GPU-") {
        return None;
    }
    let entry = entry.to_ascii_lowercase();
    let mut matches = (0..uuids.len()).filter(|i| uuid_text(&uuids[*i]).to_ascii_lowercase().starts_with(&entry));
    let first = matches.next()?;
    matches.next().is_none().then_some(first)
}

/// `GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (i, byte) in uuid.iter().enumerate() {
        if matches!(i, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuids() -> Vec<[u8; 16]> {
        vec![[0x11; 16], [0x12; 16], [0x23; 16]]
    }

    #[test]
    fn unset_shows_all_and_empty_shows_none() {
        assert_eq!(select(None, &uuids()), [0, 1, 2]);
        assert!(select(Some(""), &uuids()).is_empty());
    }

    #[test]
    fn indices_order_and_truncate() {
        assert_eq!(select(Some("2,0"), &uuids()), [2, 0]);
        assert_eq!(select(Some("1gpu, 0"), &uuids()), [1, 0]);
        assert_eq!(select(Some("1,7,0"), &uuids()), [1]);
        assert_eq!(select(Some("0,-1,2"), &uuids()), [0]);
        assert!(select(Some("1,1"), &uuids()).is_empty());
        assert!(select(Some("MIG-1"), &uuids()).is_empty());
    }

    #[test]
    fn uuids_may_be_cut_while_unique() {
        let all = uuids();
        let second = uuid_text(&all[1]);
        assert_eq!(second, "GPU-12121212-1212-1212-1212-121212121212");
        assert_eq!(select(Some(&format!("GPU-2,{second}")), &all), [2, 1]);
        assert!(select(Some("GPU-1"), &all).is_empty(), "two devices start like that");
        assert_eq!(select(Some("GPU-11,0"), &all), [0], "an index among UUIDs ends the list");
    }
}

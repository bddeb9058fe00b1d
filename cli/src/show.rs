//! `mgpu ps` and `mgpu version`: answers as tables.

use std::io::Write;
use std::path::Path;

use mgpu_protocol::control::{Request, Response, TenantRow};
use mgpu_protocol::units::Bytes;
use mgpu_protocol::{PAGE_VERSION, PROTOCOL_VERSION};

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::shim;

/// `mgpu ps`.
pub(crate) fn ps(runtime_dir: Option<&Path>, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let rows = match Daemon::expect(runtime_dir)?.command(&Request::List)? {
        Response::Tenants { rows } => rows,
        other => return Err(Failure::environment(format!("the coordinator answers {other:?} to a list"))),
    };
    let text = if json {
        serde_json::to_string_pretty(&rows).map_err(|e| Failure::environment(e.to_string()))?
    } else {
        table(&rows)
    };
    writeln!(out, "{}", text.trim_end()).map_err(|e| Failure::environment(e.to_string()))
}

const HEAD: [&str; 9] = ["TENANT", "DEVICE", "POLICY", "CLASS", "SHARE", "MEMORY", "DEVICE TIME", "GATE", "CLIENTS"];

fn table(rows: &[TenantRow]) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let width =
        |column: usize| lines.iter().filter_map(|l| l.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |cells: &[String; 9]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn cells(row: &TenantRow) -> [String; 9] {
    let share = match (&row.share, row.class.as_str()) {
        (_, "offline") => format!("weight {}", row.weight),
        (Some(share), _) => format!("{share} %"),
        (None, _) => "-".to_owned(),
    };
    let limit = row.memory_limit.map_or_else(|| "no limit".to_owned(), |limit| Bytes(limit).to_string());
    let used = Bytes(row.memory_used / (1 << 20) * (1 << 20));
    let used = if used.0 == 0 { "0MiB".to_owned() } else { used.to_string() };
    let clients: Vec<String> = row.clients.iter().map(u32::to_string).collect();
    let milliseconds = row.device_time_ns / 1_000_000;
    [
        row.name.clone(),
        row.device.chars().take(12).collect(),
        row.policy.clone(),
        row.class.clone(),
        share,
        format!("{used} / {limit}"),
        format!("{}.{:03} s", milliseconds / 1000, milliseconds % 1000),
        row.gate.clone(),
        if clients.is_empty() { "-".to_owned() } else { clients.join(",") },
    ]
}

/// `mgpu version`: tells what it can; a missing coordinator or shim is part of the answer.
pub(crate) fn version(runtime_dir: Option<&Path>, out: &mut impl Write) -> Result<(), Failure> {
    let (daemon, driver) = match Daemon::find(runtime_dir)?.map(|mut d| d.ask(&Request::Version)).transpose()?.flatten()
    {
        Some(Response::Version { daemon, protocol, page, driver }) => (
            format!("{daemon}, protocol {protocol}, page {page}"),
            driver.unwrap_or_else(|| "not told by NVML".to_owned()),
        ),
        _ => ("none runs".to_owned(), "unknown without a coordinator".to_owned()),
    };
    let shim = shim::find().and_then(|path| {
        let v = shim::version(&path)?;
        Ok(format!("{}, protocol {}, page {}, {}", v.version, v.protocol, v.page, path.display()))
    });
    let lines = [
        ("mgpu", format!("{}, protocol {PROTOCOL_VERSION}, page {PAGE_VERSION}", env!("CARGO_PKG_VERSION"))),
        ("mgpud", daemon),
        ("shim", shim.unwrap_or_else(|failure| failure.to_string())),
        ("driver", driver),
    ];
    for (name, text) in lines {
        writeln!(out, "{name:<7} {text}").map_err(|e| Failure::environment(e.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_line_per_row_and_says_what_is_not_limited() {
        let row = TenantRow {
            name: "a".to_owned(),
            class: "online".to_owned(),
            share: Some(30),
            memory_used: (5 << 20) + 3,
            device_time_ns: 1_234_567_890,
            clients: vec![7, 9],
            ..TenantRow::default()
        };
        let text = table(&[row]);
        assert_eq!(text.lines().count(), 2);
        for part in ["30 %", "5MiB / no limit", "1.234 s", "7,9"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

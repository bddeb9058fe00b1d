//! The layout of both pages, as every shim in the field knows it. A difference here is a new `PAGE_VERSION`, never an edit of
//! this list (docs/protocol.md).
#![cfg(not(loom))]

use mgpu_protocol::PAGE_VERSION;
use mgpu_protocol::layout::{ClientSlot, GrantLine, GrantsPage, StreamLine, TenantPage, ThreadLine};
use std::mem::{offset_of, size_of};

macro_rules! layout {
    ($($page:ident { $($field:ident),* })*) => {
        concat_all(&[$(
            format!("{} {}", stringify!($page), size_of::<$page>()),
            $(format!("{}.{} {}", stringify!($page), stringify!($field), offset_of!($page, $field)),)*
        )*])
    };
}

fn concat_all(lines: &[String]) -> String {
    lines.join("\n")
}

#[test]
fn version_1_lies_as_it_always_did() {
    let found = layout! {
        GrantsPage { magic, version, device_count, daemon_epoch, heartbeat, devices }
        GrantLine { gate, limit, given, overhead, total }
        TenantPage { magic, version, thread_high, stream_high, slots, threads, streams }
        ClientSlot { epoch, want, waiting, violations, late_launches, overflow, untracked, pid, lease }
        ThreadLine { count, owner, tid }
        StreamLine { launched, marked, marker, flags, owner, device }
    };
    assert_eq!(PAGE_VERSION, 1);
    assert_eq!(found, GOLDEN.trim());
}

const GOLDEN: &str = "
GrantsPage 576
GrantsPage.magic 0
GrantsPage.version 8
GrantsPage.device_count 12
GrantsPage.daemon_epoch 16
GrantsPage.heartbeat 24
GrantsPage.devices 64
GrantLine 64
GrantLine.gate 0
GrantLine.limit 8
GrantLine.given 16
GrantLine.overhead 24
GrantLine.total 32
TenantPage 139328
TenantPage.magic 0
TenantPage.version 8
TenantPage.thread_high 12
TenantPage.stream_high 16
TenantPage.slots 64
TenantPage.threads 8256
TenantPage.streams 73792
ClientSlot 128
ClientSlot.epoch 0
ClientSlot.want 4
ClientSlot.waiting 8
ClientSlot.violations 12
ClientSlot.late_launches 16
ClientSlot.overflow 24
ClientSlot.untracked 32
ClientSlot.pid 36
ClientSlot.lease 64
ThreadLine 64
ThreadLine.count 0
ThreadLine.owner 8
ThreadLine.tid 12
StreamLine 64
StreamLine.launched 0
StreamLine.marked 4
StreamLine.marker 8
StreamLine.flags 12
StreamLine.owner 16
StreamLine.device 20
";

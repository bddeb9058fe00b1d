//! Whatever bytes come in: decoding never panics, accepts only what encoding makes, and reads back what was written.
#![cfg(not(loom))]

use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::gate::{Gate, GateState, Markers, is_plainly_open};
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::message::{Hello, Refusal, Reply, Request, Welcome};
use mgpu_protocol::units::{Bytes, DeviceUuid, parse_total_share};
use proptest::prelude::*;

fn uuids() -> impl Strategy<Value = [DeviceUuid; MAX_DEVICES]> {
    prop::array::uniform8(any::<[u8; 16]>().prop_map(DeviceUuid))
}

fn request() -> impl Strategy<Value = Request> {
    let hello = (any::<([u16; 4], u32, [u16; 3], u32, u64)>(), 0..=8_u32, uuids()).prop_map(
        |((v, pid, shim, driver, previous_daemon), device_count, devices)| {
            Request::Hello(Hello {
                protocol: (v[0], v[1]),
                page: (v[2], v[3]),
                pid,
                shim: (shim[0], shim[1], shim[2]),
                driver,
                device_count,
                devices,
                previous_daemon,
            })
        },
    );
    prop_oneof![
        hello,
        any::<(u32, u64)>().prop_map(|(device, bytes)| Request::Lease { device, bytes }),
        any::<u32>().prop_map(|marked| Request::TailsMarked { marked }),
        any::<[u64; MAX_DEVICES]>().prop_map(|used| Request::Carry { used }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let welcome = (any::<(u16, u16, u32, u32, u64)>(), 0..=8_u32, uuids()).prop_map(
        |((protocol, page, slot, slot_epoch, daemon_epoch), device_count, devices)| {
            Reply::Welcome(Welcome { protocol, page, slot, slot_epoch, daemon_epoch, device_count, devices })
        },
    );
    let refusal = prop::sample::select(vec![
        Refusal::Version,
        Refusal::Full,
        Refusal::Device,
        Refusal::Stopping,
        Refusal::Malformed,
    ]);
    prop_oneof![
        welcome,
        (refusal, any::<(u16, u16)>()).prop_map(|(reason, (protocol, page))| Reply::Refused { reason, protocol, page }),
        any::<(u32, u64)>().prop_map(|(device, given)| Reply::Lease { device, given }),
        any::<u32>().prop_map(|device| Reply::MarkTails { device }),
    ]
}

proptest! {
    #[test]
    fn requests_read_back(request in request()) {
        prop_assert_eq!(Request::decode(request.encode().as_bytes()), Some(request));
    }

    #[test]
    fn replies_read_back(reply in reply()) {
        prop_assert_eq!(Reply::decode(reply.encode().as_bytes()), Some(reply));
    }

    #[test]
    fn a_packet_of_another_length_is_nothing(request in request(), cut in 1..20_usize, more in 1..20_usize) {
        let packet = request.encode();
        let bytes = packet.as_bytes();
        prop_assert_eq!(Request::decode(&bytes[..bytes.len().saturating_sub(cut)]), None);
        prop_assert_eq!(Request::decode(&[bytes, &vec![0; more]].concat()), None);
    }

    #[test]
    fn any_bytes_decode_or_dont(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Some(request) = Request::decode(&bytes) {
            let again = request.encode();
            prop_assert_eq!(again.as_bytes(), bytes.as_slice());
        }
        if let Some(reply) = Reply::decode(&bytes) {
            let again = reply.encode();
            prop_assert_eq!(again.as_bytes(), bytes.as_slice());
        }
    }

    /// Random bytes rarely begin like a message; these do.
    #[test]
    fn any_body_behind_a_known_kind_decodes_or_doesnt(kind in 0..80_u16, body in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = [kind.to_le_bytes().to_vec(), body].concat();
        if let Some(request) = Request::decode(&bytes) {
            prop_assert_eq!(request.encode().as_bytes().to_vec(), bytes.clone());
        }
        if let Some(reply) = Reply::decode(&bytes) {
            prop_assert_eq!(reply.encode().as_bytes().to_vec(), bytes);
        }
    }

    #[test]
    fn any_gate_word_means_something(word: u64) {
        let gate = Gate::unpack(word);
        let again = Gate::unpack(gate.pack());
        prop_assert_eq!(again, gate);
        if is_plainly_open(word) {
            prop_assert_eq!(gate.state, GateState::Open);
            prop_assert_eq!(gate.markers, Markers::None);
            prop_assert_eq!(gate.window, 0);
        }
    }

    #[test]
    fn entitlements_read_back(
        name in "[a-z0-9-]{1,20}",
        devices in prop::collection::vec((any::<[u8; 16]>(), any::<Option<u64>>()), 0..8),
        closed: bool,
    ) {
        let entitlement = Entitlement {
            tenant: name,
            devices: devices.into_iter().map(|(uuid, limit)| (DeviceUuid(uuid), limit.map(Bytes))).collect(),
            closed_without_coordinator: closed,
        };
        prop_assert_eq!(Entitlement::from_text(&entitlement.to_text()), Ok(entitlement));
    }

    #[test]
    fn any_text_is_an_entitlement_or_an_error(text in "\\PC{0,200}", lines in prop::collection::vec("(device|tenant|closed|x)? ?=? ?[ -~]{0,60}", 0..6)) {
        let _ = Entitlement::from_text(&text);
        let _ = Entitlement::from_text(&lines.join("\n"));
    }

    #[test]
    fn any_text_is_a_quantity_or_an_error_that_names_it(text in "[ -~]{0,24}") {
        for error in [
            text.parse::<Bytes>().err(),
            parse_total_share(&text).err(),
            text.parse::<DeviceUuid>().err(),
        ].into_iter().flatten() {
            prop_assert!(error.0.contains(text.trim()), "{}", error);
        }
    }

    #[test]
    fn sizes_read_back_as_they_are_shown(bytes: u64) {
        prop_assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)));
    }
}

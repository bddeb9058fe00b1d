use super::*;

const GIB: u64 = 1 << 30;

fn rules() -> DeviceRules {
    DeviceRules { memory: Bytes(16 * GIB), reserve: Bytes(GIB), overcommit: false, policy: None }
}

fn device() -> Admission {
    Admission::new(rules())
}

fn with_share(share: u32) -> Request {
    Request { share: Some(share), ..Request::default() }
}

fn with_memory(bytes: u64) -> Request {
    Request { memory: Some(Bytes(bytes)), ..Request::default() }
}

fn with_policy(policy: PolicyKind) -> Request {
    Request { policy: Some(policy), ..Request::default() }
}

/// The refusal's text, which must hold all of `parts`.
fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>, parts: &[&str]) {
    let text = result.unwrap_err().0;
    for part in parts {
        assert!(text.contains(part), "\"{text}\" lacks \"{part}\"");
    }
}

#[test]
fn the_first_tenant_sets_the_policy_and_it_goes_with_the_last() {
    let mut device = device();
    device.admit(TenantId(1), &with_share(30)).unwrap();
    assert_eq!(device.policy(), Some(PolicyKind::FixedShare));
    device.admit(TenantId(2), &with_share(70)).unwrap();
    device.release(TenantId(1));
    assert_eq!(device.policy(), Some(PolicyKind::FixedShare));
    device.release(TenantId(2));
    assert_eq!(device.policy(), None);
    device.admit(TenantId(3), &Request::default()).unwrap();
    assert_eq!(device.policy(), Some(PolicyKind::Fair));
}

#[test]
fn a_configured_policy_stays() {
    let mut device = Admission::new(DeviceRules { policy: Some(PolicyKind::Fair), ..rules() });
    device.admit(TenantId(1), &with_share(30)).unwrap();
    device.release(TenantId(1));
    assert_eq!(device.policy(), Some(PolicyKind::Fair));
    refused(device.check(&with_policy(PolicyKind::FixedShare)), &["fixed-share", "has policy fair", "configuration"]);
}

#[test]
fn another_policy_than_the_devices_is_refused_and_the_holders_told() {
    let mut device = device();
    device.admit(TenantId(1), &with_policy(PolicyKind::Fair)).unwrap();
    refused(device.check(&with_policy(PolicyKind::FixedShare)), &["has policy fair", "first tenant"]);
    assert!(device.check(&with_policy(PolicyKind::Fair)).is_ok());
}

#[test]
fn shares_out_of_range_are_refused() {
    for bad in [0, 101, 4_000_000_000] {
        refused(device().check(&with_share(bad)), &[&format!("share {bad}"), "1 to 100"]);
    }
    for good in [1, 100] {
        assert_eq!(device().check(&with_share(good)).unwrap().share.map(|s| u32::from(s.get())), Some(good));
    }
}

#[test]
fn fixed_shares_sum_to_100_at_most() {
    let mut device = device();
    device.admit(TenantId(1), &with_share(60)).unwrap();
    refused(device.check(&with_share(41)), &["share 41", "40 % is left", "1 to 40"]);
    device.admit(TenantId(2), &with_share(40)).unwrap();
    refused(device.check(&with_share(1)), &["nothing is left"]);
    // Offline weights don't enter the sum.
    let offline = Request { class: Some(Class::Offline), share: Some(50), ..Request::default() };
    assert!(device.admit(TenantId(3), &offline).is_ok());
}

#[test]
fn an_online_tenant_without_a_share_is_refused_where_shares_are_needed() {
    let mut device = device();
    device.admit(TenantId(1), &with_share(60)).unwrap();
    refused(device.check(&Request::default()), &["no share", "fixed-share", "40 % is left"]);
    let offline = Request { class: Some(Class::Offline), ..Request::default() };
    assert!(device.check(&offline).is_ok());
}

#[test]
fn memory_has_a_range_and_a_sum() {
    let mut device = device();
    for bad in [0, 100 * MIB, 256 * MIB - 1, 16 * GIB] {
        refused(device.check(&with_memory(bad)), &["out of range", "256MiB to 15GiB"]);
    }
    refused(device.check(&with_memory(GIB + 1)), &["whole number of MiB", "1024MiB", "1025MiB"]);
    device.admit(TenantId(1), &with_memory(10 * GIB)).unwrap();
    refused(device.check(&with_memory(6 * GIB)), &["6GiB is too much", "5GiB is left", "overcommit"]);
    device.admit(TenantId(2), &with_memory(5 * GIB)).unwrap();
    refused(device.check(&with_memory(GIB)), &["0B is left"]);
    let mut rich = Admission::new(DeviceRules { overcommit: true, ..rules() });
    rich.admit(TenantId(1), &with_memory(10 * GIB)).unwrap();
    assert!(rich.admit(TenantId(2), &with_memory(10 * GIB)).is_ok());
}

#[test]
fn weights_have_a_range() {
    for bad in [0, 10_001] {
        let request = Request { weight: Some(bad), ..Request::default() };
        refused(device().check(&request), &[&format!("weight {bad}"), "1 to 10000"]);
    }
    let request = Request { weight: Some(10_000), ..Request::default() };
    assert_eq!(device().check(&request).unwrap().weight.get(), 10_000);
}

#[test]
fn a_change_is_checked_against_the_others_only() {
    let mut device = device();
    device.admit(TenantId(1), &Request { memory: Some(Bytes(10 * GIB)), ..with_share(60) }).unwrap();
    device.admit(TenantId(2), &with_share(30)).unwrap();
    // 60 → 70 fits beside 30; 71 does not. What is not named stays.
    let row = device.change(TenantId(1), &with_share(70)).unwrap();
    assert_eq!((row.share.map(Percent::get), row.memory), (Some(70), Some(Bytes(10 * GIB))));
    refused(device.change(TenantId(1), &with_share(71)), &["70 % is left"]);
    assert_eq!(device.row(TenantId(1)), Some(&row));
    assert!(device.change(TenantId(1), &with_memory(15 * GIB)).is_ok());
    refused(device.change(TenantId(9), &with_share(1)), &["tenant 9"]);
    // An offline tenant without a share can't become online here.
    device.admit(TenantId(3), &Request { class: Some(Class::Offline), ..Request::default() }).unwrap();
    let online = Request { class: Some(Class::Online), ..Request::default() };
    refused(device.change(TenantId(3), &online), &["no share"]);
}

#[test]
fn the_operator_changes_the_policy_if_the_rows_fit() {
    let mut device = device();
    device.admit(TenantId(1), &Request::default()).unwrap();
    refused(device.set_policy(PolicyKind::FixedShare), &["tenant 1 has none"]);
    device.change(TenantId(1), &with_share(60)).unwrap();
    device.admit(TenantId(2), &with_share(60)).unwrap();
    refused(device.set_policy(PolicyKind::FixedShare), &["sum to 120 %"]);
    device.change(TenantId(2), &with_share(40)).unwrap();
    device.set_policy(PolicyKind::FixedShare).unwrap();
    device.release(TenantId(1));
    device.release(TenantId(2));
    assert_eq!(device.policy(), Some(PolicyKind::FixedShare), "the operator's policy stays");
}

#[test]
fn totals_divide_evenly_or_the_nearest_are_named() {
    let totals = Request { share: Some(150), memory: Some(Bytes(6 * GIB)), weight: Some(3), ..Request::default() };
    let each = divide(&totals, 3).unwrap();
    assert_eq!((each.share, each.memory, each.weight), (Some(50), Some(Bytes(2 * GIB)), Some(3)));
    refused(divide(&with_share(100), 3), &["share 100", "99 and 102"]);
    refused(divide(&with_share(301), 3), &["3 to 300"]);
    refused(divide(&with_share(2), 3), &["3 to 300"]);
    refused(divide(&with_share(101), 1), &["share 101", "1 to 100"]);
    // 4 GiB over 3: 4096 MiB = 3 × 1365 + 1.
    refused(divide(&with_memory(4 * GIB), 3), &["4GiB", "4095MiB and 4098MiB"]);
    refused(divide(&with_memory(4_000_000_000), 1), &["whole MiB", "3814MiB and 3815MiB"]);
    for bad in [0, 9] {
        refused(divide(&Request::default(), bad), &[&format!("{bad} devices"), "1 to 8"]);
    }
}

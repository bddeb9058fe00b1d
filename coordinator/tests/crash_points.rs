//! The daemon dies at each step of making a tenant and of writing its state; the next one must start, know every tenant that
//! was confirmed, and leave nothing of the others. Needs a build with the feature `crash-points`.

mod support;

use mgpu_protocol::control::{Request, Settings};
use support::{GIB, Node, until};

/// Step, how often it is reached before the crash (the state is written once at start), may the tenant that was being made
/// be there afterwards?
const POINTS: [(&str, u32, bool); 14] = [
    ("tenant-directory", 2, false),
    ("tenant-entitlement", 2, false),
    ("tenant-listener", 2, false),
    ("state-begin", 1, false),
    ("state-half", 1, false),
    ("state-written", 1, false),
    ("state-synced", 1, false),
    ("state-renamed", 1, false),
    ("state-begin", 2, false),
    ("state-half", 2, false),
    ("state-written", 2, false),
    ("state-synced", 2, false),
    ("state-renamed", 2, true),
    ("before-answer", 1, true),
];

fn named(name: &str) -> Request {
    let settings = Settings { name: Some(name.to_owned()), memory: Some(GIB), share: Some(10), ..Settings::default() };
    Request::Create { settings, pid: std::process::id() }
}

#[test]
fn a_crash_at_any_step_leaves_a_state_that_the_next_daemon_reads() {
    for (point, times, may_be_there) in POINTS {
        let mut node = Node::running();
        node.ask(&named("confirmed"));
        node.kill();
        node.environment = vec![("MGPUD_CRASH_AT".to_owned(), format!("{point}:{times}"))];
        if point.starts_with("state") && times == 1 {
            node.spawn(&[]);
        } else {
            node.start();
            assert_eq!(node.try_ask(&named("unconfirmed")), None, "{point}");
        }
        assert!(!node.ended().success(), "{point} was not reached");
        node.environment.clear();
        node.start();
        let mut names: Vec<String> = node.rows().into_iter().map(|row| row.name).collect();
        names.retain(|name| name != "unconfirmed" || !may_be_there);
        assert_eq!(names, ["confirmed"], "{point} {times}");
        let directories = || std::fs::read_dir(node.runtime_dir().join("tenants")).expect("there").count();
        until("as many directories as tenants", || (directories() == node.rows().len()).then_some(()));
        node.ask(&named("next"));
    }
}

//! The daemon dies at each step of making a tenant and of writing its state; the next one must start, know every tenant that
//! was confirmed, and leave nothing of the others. Needs a build with the feature `crash-points`.

mod support;

use mgpu_protocol::control::{Request, Settings};
use support::{GIB, Node, until};

const POINTS: [&str; 9] = [
    "tenant-directory",
    "tenant-entitlement",
    "tenant-listener",
    "state-begin",
    "state-half",
    "state-written",
    "state-synced",
    "state-renamed",
    "before-answer",
];

fn named(name: &str) -> Request {
    let settings = Settings { name: Some(name.to_owned()), memory: Some(GIB), share: Some(10), ..Settings::default() };
    Request::Create { settings, pid: std::process::id() }
}

#[test]
fn a_crash_at_any_step_leaves_a_state_that_the_next_daemon_reads() {
    for point in POINTS {
        let mut node = Node::running();
        node.ask(&named("confirmed"));
        node.kill();
        // The daemon writes its state at start, so the points of the writer would fire there: it is armed by a request.
        node.environment = vec![("MGPUD_CRASH_AT".to_owned(), point.to_owned())];
        if point.starts_with("state") {
            node.spawn(&[]);
        } else {
            node.start();
            assert_eq!(node.try_ask(&named("lost")), None, "{point}");
        }
        assert!(!node.ended().success(), "{point} was not reached");
        node.environment.clear();
        node.start();
        let mut names: Vec<String> = node.rows().into_iter().map(|row| row.name).collect();
        names.retain(|name| name != "lost" || point != "before-answer");
        assert_eq!(names, ["confirmed"], "{point}");
        let directories = || std::fs::read_dir(node.runtime_dir().join("tenants")).expect("there").count();
        until("as many directories as tenants", || (directories() == node.rows().len()).then_some(()));
        assert!(!std::path::Path::new(&node.runtime_dir().join("tenants/lost")).exists());
        node.ask(&named("next"));
    }
}

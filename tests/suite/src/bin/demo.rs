//! `scripts/demo`: the main job in one minute. Real client programs in tenants with limits and shares on a simulated GPU; who
//! got what, by the simulated GPU's own witness. On a machine with a real GPU the same scenes on that, by the clients' own counts.

use mgpu_suite::measure;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::paths;
use mgpu_suite::real::{RealNode, has_gpu};
use mgpu_suite::scene::{Cast, SceneResult, TenantResult, observe, row};
use mgpu_suite::tenant::Program;
use serde::Serialize;
use std::time::Duration;

const GIB: u64 = 1 << 30;
/// Long enough for every scene; each ends its programs itself.
const FOR_EVER: &str = "600";

#[derive(Serialize)]
struct Report {
    scenes: Vec<SceneResult>,
}

struct Arguments {
    json: Option<String>,
    seconds: u64,
    profile: String,
    simulated: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut out = Arguments { json: None, seconds: 10, profile: "default".to_owned(), simulated: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--json" => out.json = Some(value()?),
            "--profile" => out.profile = value()?,
            "--seconds" => {
                let text = value()?;
                out.seconds =
                    text.parse().ok().filter(|n| (1..=600).contains(n)).ok_or(format!("--seconds {text}: 1 to 600"))?;
            }
            "--simulated" => out.simulated = true,
            _ => return Err(format!("unknown option {word}: --json FILE, --seconds N, --profile NAME, --simulated")),
        }
    }
    Ok(out)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments().map_err(|e| format!("demo: {e}"))?;
    let on_hardware = has_gpu() && !arguments.simulated;
    let scenes = if on_hardware { on_the_gpu(arguments.seconds)? } else { on_the_simulator(&arguments) };
    if let Some(file) = arguments.json {
        std::fs::write(&file, serde_json::to_string_pretty(&Report { scenes })?)?;
    }
    Ok(())
}

fn on_the_simulator(arguments: &Arguments) -> Vec<SceneResult> {
    let node = Node::start(NodeOptions { profile: arguments.profile.clone(), ..NodeOptions::default() });
    println!("A simulated GPU (profile {}): what follows shows mgpu's logic, not hardware.\n", arguments.profile);
    let length = Duration::from_secs(arguments.seconds);
    let mut scenes: Vec<_> = [fixed_30_70, fixed_30_alone, fair_three].map(|scene| told(scene(&node, length))).into();
    scenes.extend(online_offline(&node, length / 3).into_iter().map(told));
    scenes.push(told(memory_limit(&node)));
    let seen = node.run(&["--memory", "2GiB"], &Program::python("nvml_view.py", &[])).result();
    println!("nvidia-ml-py in a tenant (this version passes NVML through, so it sees the whole device): {seen}");
    scenes
}

/// The scenes that need no witness. Each program ends by itself, so that its own count covers the whole time.
fn on_the_gpu(seconds: u64) -> Result<Vec<SceneResult>, Box<dyn std::error::Error>> {
    let seconds = u32::try_from(seconds)?;
    let node = RealNode::start();
    println!(
        "This machine's GPU. No witness there: device time is launches x kernel length, as the clients count them.\n"
    );
    let text = seconds.to_string();
    let python = |name: &str| Program::python(name, &["--seconds", &text, "--kernel-us", "1000"]);
    let linked = || Program::workload("saturate", &["--seconds", &text, "--kernel", "spin_1000us"]);
    let small = || (cast("small", "numba-cuda", Some(30), Some(4 * GIB), python("numba_kernels.py")), 1000);
    let large = || (cast("large", "cuda-bindings", Some(70), Some(8 * GIB), python("bindings_driver.py")), 1000);
    let fair = |name| (cast(name, "c, linked", None, None, linked()), 1000);
    let fill = Program::workload("alloc", &["--block-mib", "64", "--threads", "4", "--kind", "mixed"]);
    let limited = (cast("linked", "c, linked", None, Some(2 * GIB), fill), 0);
    Ok([
        node.scene("two tenants, 30 and 70, both saturating", "fixed-share", &[small(), large()], seconds),
        node.scene("a fixed 30 alone on the device", "fixed-share", &[small()], seconds),
        node.scene("three tenants, fair", "fair", &[fair("first"), fair("second"), fair("third")], seconds),
        node.scene("a limit of 2 GiB, a program that takes all", "fair", &[limited], 1),
    ]
    .map(told)
    .into())
}

/// Prints a scene and gives it back.
fn told(scene: SceneResult) -> SceneResult {
    println!("{} (policy {}, {:.1} s)", scene.name, scene.policy, scene.seconds);
    println!(
        "  {:<10} {:<8} {:<15} {:>6} {:>12} {:>10} {:>10} {:>10}  past the limit",
        "tenant", "class", "client", "share", "device time", "limit", "peak", "overhead"
    );
    for t in &scene.tenants {
        let share = t.share_percent.map_or_else(|| "-".to_owned(), |s| format!("{s} %"));
        let limit = t.memory_limit_bytes.map_or_else(|| "-".to_owned(), mib);
        println!(
            "  {:<10} {:<8} {:<15} {:>6} {:>10.2} % {:>10} {:>10} {:>10}  {}",
            t.name,
            t.class,
            t.client,
            share,
            t.device_time_percent,
            limit,
            mib(t.memory_peak_bytes),
            t.memory_overhead_bytes.map_or_else(|| "-".to_owned(), mib),
            if t.oom_refused { "refused" } else { "-" }
        );
    }
    println!();
    scene
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn cast(name: &'static str, client: &'static str, share: Option<u32>, memory: Option<u64>, program: Program) -> Cast {
    Cast { name, class: "online", client, share, memory, program }
}

fn numba() -> Program {
    Program::python("numba_kernels.py", &["--seconds", FOR_EVER, "--kernel-us", "1000"])
}

fn bindings() -> Program {
    Program::python("bindings_driver.py", &["--seconds", FOR_EVER, "--kernel-us", "1000"])
}

fn taichi() -> Program {
    Program::python("taichi_kernels.py", &["--seconds", FOR_EVER, "--kernel-us", "1000"])
}

fn cudarc() -> Program {
    Program::new(paths::release("mgpu-workload-cudarc"), &["--seconds", FOR_EVER, "--kernel-us", "200"])
}

fn c(kernel: &str) -> Program {
    Program::workload("saturate", &["--seconds", FOR_EVER, "--kernel", kernel])
}

/// All of `casts` at once for `length`.
fn together(node: &Node, name: &str, policy: &str, casts: &[Cast], length: Duration) -> SceneResult {
    let mut tenants: Vec<_> = casts.iter().map(|cast| cast.start(node, policy)).collect();
    let rows: Vec<_> = casts.iter().zip(&tenants).collect();
    let scene = observe(node, name, policy, &rows, length);
    for tenant in &mut tenants {
        let _ = tenant.finish();
    }
    scene
}

fn fixed_30_70(node: &Node, length: Duration) -> SceneResult {
    let casts = [
        cast("small", "numba-cuda", Some(30), Some(4 * GIB), numba()),
        cast("large", "cuda-bindings", Some(70), Some(8 * GIB), bindings()),
    ];
    together(node, "two tenants, 30 and 70, both saturating", "fixed-share", &casts, length)
}

fn fixed_30_alone(node: &Node, length: Duration) -> SceneResult {
    let casts = [cast("small", "numba-cuda", Some(30), Some(4 * GIB), numba())];
    together(node, "a fixed 30 alone on the device", "fixed-share", &casts, length)
}

fn fair_three(node: &Node, length: Duration) -> SceneResult {
    let (client, program) = match paths::absent_client("taichi") {
        None => ("taichi", taichi()),
        Some(why) => {
            println!("skipped: taichi: {why}; numba-cuda takes its part\n");
            ("numba-cuda", numba())
        }
    };
    let casts = [
        cast("first", client, None, None, program),
        cast("second", "cudarc", None, None, cudarc()),
        cast("third", "c, linked", None, None, c("spin_500us")),
    ];
    together(node, "three tenants, fair", "fair", &casts, length)
}

/// Offline alone, then beside a working online tenant, then after it has gone.
fn online_offline(node: &Node, length: Duration) -> Vec<SceneResult> {
    let offline = Cast { class: "offline", ..cast("batch", "c, linked", None, None, c("spin_1000us")) };
    let online = cast("serving", "cudarc", None, None, cudarc());
    let mut batch = offline.start(node, "fair");
    let before = observe(node, "offline before online starts", "fair", &[(&offline, &batch)], length);
    let mut serving = online.start(node, "fair");
    let beside =
        observe(node, "offline while online works", "fair", &[(&offline, &batch), (&online, &serving)], length);
    let _ = serving.finish();
    // The hold passes between the end of the online work and the next measurement.
    mgpu_suite::wait::until("offline work after the hold", || {
        let earlier = node.witness().process(0, batch.pid()).completed;
        std::thread::sleep(Duration::from_millis(50));
        (node.witness().process(0, batch.pid()).completed > earlier + 10).then_some(())
    });
    let after = observe(node, "offline after online has ended", "fair", &[(&offline, &batch)], length);
    let _ = batch.finish();
    vec![before, beside, after]
}

/// Two programs with 2 GiB each that take all they can get.
fn memory_limit(node: &Node) -> SceneResult {
    let limit = 2 * GIB;
    let casts = [
        cast(
            "python",
            "numba-cuda",
            None,
            Some(limit),
            Program::python("numba_kernels.py", &["--seconds", "2", "--kernel-us", "1000", "--memory-mib", "3072"]),
        ),
        cast(
            "linked",
            "c, linked",
            None,
            Some(limit),
            Program::workload("alloc", &["--block-mib", "64", "--threads", "4", "--kind", "plain"]),
        ),
    ];
    let mut tenants: Vec<TenantResult> = Vec::new();
    let mut seconds = 0.0;
    for cast in &casts {
        let settings = cast.settings("fair");
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut tenant = node.run(&settings, &cast.program);
        let window = measure::window(node, 0, &[tenant.pid()], 100, Duration::from_secs(1));
        let result = tenant.result();
        let refused = ["oom", "error"].iter().any(|key| {
            result
                .get(key)
                .and_then(serde_json::Value::as_str)
                .is_some_and(|s| s.to_ascii_lowercase().contains("memory") || s.contains("CudaAPIError"))
        });
        let last = measure::Window { last: node.witness(), ..window };
        seconds += last.elapsed_ns as f64 / 1e9;
        tenants.push(row(cast, tenant.pid(), &last, refused));
    }
    SceneResult {
        name: "a limit of 2 GiB each, programs that take all".to_owned(),
        policy: "fair".to_owned(),
        seconds,
        tenants,
    }
}

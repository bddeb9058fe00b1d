//! How long a kernel takes, and whether it faults: rules by name, else by grid; seeded jitter and rare outliers.

use crate::ids::Nanos;
use crate::op::Fault;
use crate::profile::{ComputeRules, DeviceShape};
use crate::random::mix;

/// What a kernel's name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) duration: Option<Nanos>,
    pub(crate) fault: Option<Fault>,
}

impl Rule {
    /// Reads a plain or an Itanium-mangled (`_Z8spin_1msPf`) name.
    pub(crate) fn of(name: &str) -> Self {
        let mut rule = Self::default();
        for word in identifiers(name) {
            rule.duration = duration_in(word).or(rule.duration);
            rule.fault = fault_in(word).or(rule.fault);
        }
        rule
    }
}

/// Identifiers of a name: the length-prefixed ones of a mangled name, else the name itself.
fn identifiers(name: &str) -> Vec<&str> {
    let Some(mut rest) = name.strip_prefix("_Z") else { return vec![name] };
    let mut words = Vec::new();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let Some(word) = digits[..end].parse().ok().and_then(|length: usize| digits[end..].get(..length)) else {
            break;
        };
        words.push(word);
        rest = &digits[end + word.len()..];
    }
    words
}

/// The last `_<number><unit>` that ends a word or stands before another `_`.
fn duration_in(word: &str) -> Option<Nanos> {
    word.split('_').skip(1).filter_map(duration).last()
}

fn duration(part: &str) -> Option<Nanos> {
    let unit_at = part.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = part.split_at(unit_at);
    let scale: u64 = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

fn fault_in(word: &str) -> Option<Fault> {
    let rest = word.strip_prefix("fault")?;
    Some(match rest {
        r if r.starts_with("_timeout") => Fault::LaunchTimeout,
        r if r.starts_with("_assert") => Fault::Assert,
        r if r.starts_with("_launch") => Fault::LaunchFailed,
        _ => Fault::IllegalAddress,
    })
}

/// Threads that the device can hold.
pub(crate) fn capacity(device: &DeviceShape) -> u64 {
    u64::from(device.multiprocessors) * u64::from(device.threads_per_multiprocessor)
}

/// Threads that a grid needs in all (whole warps).
pub(crate) fn threads(blocks: u64, threads: u32) -> u64 {
    blocks.saturating_mul(u64::from(threads).next_multiple_of(32))
}

/// Duration by grid: a base, and a wave for each time that the grid fills the device.
pub(crate) fn by_grid(rules: &ComputeRules, capacity: u64, threads: u64) -> Nanos {
    let waves = threads.div_ceil(capacity);
    rules.kernel_base_ns.saturating_add(rules.kernel_wave_ns.saturating_mul(waves))
}

/// Applies jitter and outliers. `draw` is the seeded number of this very launch. Never 0.
pub(crate) fn jittered(rules: &ComputeRules, duration: Nanos, draw: u64) -> Nanos {
    let mut duration = duration.max(1);
    if rules.jitter_ppm > 0 {
        let span = 2 * u64::from(rules.jitter_ppm) + 1;
        let factor = 1_000_000 - u64::from(rules.jitter_ppm) + draw % span;
        let scaled = u128::from(duration) * u128::from(factor) / 1_000_000;
        duration = u64::try_from(scaled).unwrap_or(u64::MAX).max(1);
    }
    if rules.outlier_every > 0 && mix(draw ^ 0x6f75_746c).is_multiple_of(u64::from(rules.outlier_every)) {
        duration = duration.saturating_mul(u64::from(rules.outlier_factor.max(1)));
    }
    duration
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn names_set_durations() {
        for (name, want) in [
            ("spin_1ms", Some(1_000_000)),
            ("a_500us_b", Some(500_000)),
            ("x_20ns", Some(20)),
            ("z_2s", Some(2_000_000_000)),
            ("_Z8spin_1msPf", Some(1_000_000)),
            ("_Z8spin_1msi", Some(1_000_000)),
            ("_ZN6cudapy8__main__8spin_3usB2v1E5ArrayIfLi1E", Some(3_000)),
            ("pass_2sweep", None),
            ("add_4x4", None),
            ("1ms", None),
            ("x_99999999999999999999s", None),
            ("_Z", None),
            ("_Z99x", None),
            ("", None),
        ] {
            assert_eq!(Rule::of(name).duration, want, "{name}");
        }
    }

    #[test]
    fn names_set_faults() {
        assert_eq!(Rule::of("fault_10us"), Rule { duration: Some(10_000), fault: Some(Fault::IllegalAddress) });
        assert_eq!(Rule::of("_Z12fault_assertv").fault, Some(Fault::Assert));
        assert_eq!(Rule::of("default_1ms").fault, None);
    }

    #[test]
    fn jitter_stays_in_its_bounds_and_outliers_are_rare() {
        let rules = Profile::built_in("default").unwrap().compute;
        let times: Vec<_> = (0..100_000).map(|n| jittered(&rules, 1_000_000, mix(n))).collect();
        let outliers = times.iter().filter(|t| **t > 1_020_000).count();
        assert!(times.iter().all(|t| *t >= 980_000 && *t <= 3 * 1_020_000));
        assert!((1..40).contains(&outliers), "{outliers}");
    }
}

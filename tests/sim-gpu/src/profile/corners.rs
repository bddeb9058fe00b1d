//! Built-in profiles: the default and the corners of the documented ranges, a random one, and reading one from TOML.

use super::{ComputeRules, CopyRules, DeviceShape, HostCosts, LifeRules, MemoryRules, Profile};
use crate::random::Random;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Names of the built-in profiles, the default first.
pub const PROFILES: [&str; 5] = ["default", "fast-switch", "slow-switch", "zero-host-cost", "ideal"];

impl Profile {
    /// A built-in profile by name.
    pub fn built_in(name: &str) -> Option<Self> {
        let mut profile = match name {
            "default" => a100(),
            "fast-switch" => fast_switch(),
            "slow-switch" => slow_switch(),
            "zero-host-cost" => Self { host: HostCosts::ZERO, ..a100() },
            "ideal" => ideal(),
            _ => return None,
        };
        profile.name = name.to_owned();
        Some(profile)
    }

    /// Reads a profile from TOML. `base` names the built-in whose values stand for missing keys (default: `default`).
    /// Unknown keys, wrong types and values without sense are errors that name the key.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let mut over: toml::Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let base = match over.remove("base") {
            None => "default".to_owned(),
            Some(toml::Value::String(name)) => name,
            Some(other) => return Err(format!("base: a name is wanted, not {other}")),
        };
        let base = Self::built_in(&base)
            .ok_or_else(|| format!("base: no built-in profile is called {base:?}; there are {PROFILES:?}"))?;
        let mut table = toml::Table::try_from(base).map_err(|e| e.to_string())?;
        merge(&mut table, over);
        let profile: Self = table.try_into().map_err(|e: toml::de::Error| e.to_string())?;
        profile.check()?;
        Ok(profile)
    }

    /// A profile drawn from the documented ranges; equal seeds give equal profiles.
    pub fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut profile = a100();
        profile.name = format!("random-{seed}");
        profile.memory.granularity = (64 * KIB) << random.between(0, 5);
        profile.memory.small_limit = profile.memory.granularity >> random.between(1, 3);
        profile.memory.pool_chunk = (2 * MIB) << random.between(0, 5);
        profile.memory.context_bytes = random.between(100, 600) * MIB;
        profile.memory.module_bytes = random.between(1, 16) * MIB;
        profile.device.reserved_bytes = random.between(128, 700) * MIB;
        profile.compute.slice_ns = random.between(500, 4_000) * US;
        profile.compute.switch_ns = random.between(30, 200) * US;
        profile.compute.reload_ns = random.between(5, 40) * US;
        profile.compute.channels = 8 << random.between(0, 2);
        profile.compute.queue_depth = 1 << random.between(9, 11);
        profile.compute.jitter_ppm = low(random.between(0, 50_000));
        profile.compute.outlier_every = low(random.between(500, 50_000));
        profile.compute.outlier_factor = low(random.between(2, 8));
        profile.compute.poll_ns = random.between(5, 50) * US;
        profile.host.launch_ns = random.between(2_000, 7_000);
        profile.host.memop_ns = random.between(1_000, 2_000);
        profile.life.teardown_ns = random.between(100, 400) * MS;
        profile.life.nvml_period_ns = random.between(167, 1_000) * MS;
        profile
    }

    /// Whether the numbers make sense together; the error names the key.
    pub fn check(&self) -> Result<(), String> {
        let positive = [
            ("device.memory_bytes", self.device.memory_bytes),
            ("device.multiprocessors", self.device.multiprocessors.into()),
            ("device.threads_per_multiprocessor", self.device.threads_per_multiprocessor.into()),
            ("memory.small_alignment", self.memory.small_alignment),
            ("compute.slice_ns", self.compute.slice_ns),
            ("compute.channels", self.compute.channels.into()),
            ("compute.queue_depth", self.compute.queue_depth.into()),
            ("compute.poll_ns", self.compute.poll_ns),
            ("copy.host_to_device", self.copy.host_to_device),
            ("copy.device_to_host", self.copy.device_to_host),
            ("copy.device_to_device", self.copy.device_to_device),
            ("copy.peer", self.copy.peer),
            ("life.nvml_period_ns", self.life.nvml_period_ns),
        ];
        if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{key}: must be at least 1"));
        }
        let memory = &self.memory;
        if !memory.granularity.is_power_of_two() {
            return Err(format!("memory.granularity: {} is not a power of two", memory.granularity));
        }
        if memory.small_limit > memory.granularity {
            return Err(format!("memory.small_limit: {} is more than a block", memory.small_limit));
        }
        if memory.pool_chunk == 0 || !memory.pool_chunk.is_multiple_of(memory.granularity) {
            return Err(format!("memory.pool_chunk: {} is not a multiple of the granularity", memory.pool_chunk));
        }
        if self.device.reserved_bytes >= self.device.memory_bytes {
            return Err("device.reserved_bytes: nothing is left of the memory".to_owned());
        }
        if self.compute.jitter_ppm > 900_000 {
            return Err(format!("compute.jitter_ppm: {} is more than 900000", self.compute.jitter_ppm));
        }
        Ok(())
    }
}

impl HostCosts {
    /// Calls cost nothing but their real work: for measuring what a preloaded library adds.
    pub const ZERO: Self = Self {
        launch_ns: 0,
        memop_ns: 0,
        event_ns: 0,
        copy_ns: 0,
        alloc_ns: 0,
        free_ns: 0,
        pool_ns: 0,
        graph_ns: 0,
        context_ns: 0,
    };
}

fn low(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn merge(into: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => merge(inner, value),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

/// A100-like.
fn a100() -> Profile {
    Profile {
        name: "default".to_owned(),
        device: DeviceShape {
            product: "Simulated A100".to_owned(),
            memory_bytes: 40 << 30,
            reserved_bytes: 512 * MIB,
            multiprocessors: 108,
            threads_per_multiprocessor: 2048,
            capability: (8, 0),
        },
        memory: MemoryRules {
            granularity: 2 * MIB,
            small_limit: MIB,
            small_alignment: 512,
            pool_chunk: 32 * MIB,
            context_bytes: 300 * MIB,
            module_bytes: 4 * MIB,
        },
        compute: ComputeRules {
            slice_ns: 2 * MS,
            switch_ns: 100 * US,
            reload_ns: 20 * US,
            channels: 8,
            queue_depth: 1024,
            kernel_base_ns: 2 * US,
            kernel_wave_ns: 5 * US,
            jitter_ppm: 20_000,
            outlier_every: 10_000,
            outlier_factor: 3,
            poll_ns: 20 * US,
        },
        copy: CopyRules {
            host_to_device: 20_000,
            device_to_host: 20_000,
            device_to_device: 600_000,
            peer: 50_000,
            setup_ns: 2 * US,
        },
        host: HostCosts {
            launch_ns: 4_350,
            memop_ns: 1_500,
            event_ns: 1_000,
            copy_ns: 5_000,
            alloc_ns: 40_000,
            free_ns: 40_000,
            pool_ns: 1_500,
            graph_ns: 8_000,
            context_ns: 20 * MS,
        },
        life: LifeRules { teardown_ns: 150 * MS, nvml_period_ns: 1_000 * MS / 6 },
    }
}

/// Short slices, cheap switches, fine memory.
fn fast_switch() -> Profile {
    let mut profile = a100();
    profile.memory.granularity = 64 * KIB;
    profile.memory.small_limit = 32 * KIB;
    profile.memory.pool_chunk = 2 * MIB;
    profile.memory.context_bytes = 100 * MIB;
    profile.compute.slice_ns = 500 * US;
    profile.compute.switch_ns = 30 * US;
    profile.compute.reload_ns = 5 * US;
    profile.compute.channels = 32;
    profile.compute.jitter_ppm = 0;
    profile.compute.outlier_every = 0;
    profile.compute.poll_ns = 5 * US;
    profile.host.launch_ns = 2_500;
    profile.life.teardown_ns = 100 * MS;
    profile
}

/// Long slices, dear switches, coarse memory, much jitter.
fn slow_switch() -> Profile {
    let mut profile = a100();
    profile.memory.pool_chunk = 64 * MIB;
    profile.memory.context_bytes = 600 * MIB;
    profile.memory.module_bytes = 16 * MIB;
    profile.compute.slice_ns = 4 * MS;
    profile.compute.switch_ns = 200 * US;
    profile.compute.reload_ns = 40 * US;
    profile.compute.queue_depth = 512;
    profile.compute.jitter_ppm = 50_000;
    profile.compute.outlier_every = 2_000;
    profile.compute.outlier_factor = 5;
    profile.compute.poll_ns = 50 * US;
    profile.host.launch_ns = 6_000;
    profile.life.teardown_ns = 400 * MS;
    profile.life.nvml_period_ns = 1_000 * MS;
    profile
}

/// No jitter, no outliers, free switches: for tests that compute with exact numbers.
fn ideal() -> Profile {
    let mut profile = a100();
    profile.compute.switch_ns = 0;
    profile.compute.reload_ns = 0;
    profile.compute.jitter_ppm = 0;
    profile.compute.outlier_every = 0;
    profile.copy.setup_ns = 0;
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_makes_sense() {
        for name in PROFILES {
            Profile::built_in(name).unwrap().check().unwrap();
        }
        for seed in 0..1_000 {
            Profile::random(seed).check().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(Profile::random(seed), Profile::random(seed));
        }
        assert_eq!(Profile::built_in("fastest"), None);
    }

    #[test]
    fn toml_overrides_its_base() {
        let profile = Profile::from_toml("base = 'fast-switch'\nname = 'mine'\n[compute]\nslice_ns = 7\n").unwrap();
        assert_eq!((profile.name.as_str(), profile.compute.slice_ns, profile.compute.switch_ns), ("mine", 7, 30_000));
        assert_eq!(Profile::from_toml("").unwrap(), Profile::built_in("default").unwrap());
    }

    #[test]
    fn bad_toml_is_named() {
        for (text, word) in [
            ("[compute]\nslize_ns = 7", "slize_ns"),
            ("base = 'nope'", "nope"),
            ("base = 1", "base"),
            ("[memory]\ngranularity = 3", "granularity"),
            ("[compute]\nslice_ns = 0", "slice_ns"),
            ("[compute]\nslice_ns = 'x'", "slice_ns"),
        ] {
            let error = Profile::from_toml(text).unwrap_err();
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}

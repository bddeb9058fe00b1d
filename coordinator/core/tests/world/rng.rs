//! A small generator (splitmix64): the same numbers on every machine and in every version.

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x6d67_7075)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to n - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// a to b.
    pub fn between(&mut self, a: u64, b: u64) -> u64 {
        a + self.below(b.saturating_sub(a) + 1)
    }

    /// a to b, each power of two as likely as the next.
    pub fn log_between(&mut self, a: u64, b: u64) -> u64 {
        let (low, high) = (a.max(1).ilog2(), b.max(1).ilog2());
        let power = self.between(u64::from(low), u64::from(high));
        self.between(1 << power, (1 << (power + 1)) - 1).clamp(a, b)
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

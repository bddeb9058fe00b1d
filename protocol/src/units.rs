//! Quantities with their units: bytes, nanoseconds, percent of a device, device UUIDs. Parsing is strict and its errors
//! name the value and the valid range, since they are shown to people as they are.

use std::fmt;
use std::str::FromStr;

/// One mebibyte; memory limits are whole multiples of it.
pub const MIB: u64 = 1 << 20;
/// Least device memory that a tenant may be given per device (DESIGN §4): less can't hold a CUDA context.
pub const MIN_MEMORY_PER_DEVICE: Bytes = Bytes(256 * MIB);

/// Nanoseconds of CLOCK_MONOTONIC, or a span of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// `n` microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }
    /// `n` milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }
    /// This instant plus a span; stays at the end of time instead of wrapping.
    #[must_use]
    pub const fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
    /// The span from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

/// An amount of device memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(n) = *self;
        for (unit, name) in [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
            if n >= unit && n % unit == 0 {
                return write!(f, "{}{name}", n / unit);
            }
        }
        write!(f, "{n}B")
    }
}

/// Why a quantity could not be read; shown to people as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Bytes {
    type Err = ParseError;

    /// Accepts a whole number with an optional unit: `B`, `KiB`/`K`, `MiB`/`M`, `GiB`/`G`, `TiB`/`T` (powers of 1024) and
    /// `KB`, `MB`, `GB`, `TB` (powers of 1000), any case, one optional space before the unit ("4 GB" is 4 × 10⁹ bytes).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bad = || {
            ParseError(format!(
                "memory \"{text}\" is not a size: give a whole number with a unit, as 4GiB, 512MiB or 4GB"
            ))
        };
        let trimmed = text.trim();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = trimmed.split_at(digits);
        let number: u64 = number.parse().map_err(|_| bad())?;
        let factor: u64 = match unit.strip_prefix(' ').unwrap_or(unit).to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return Err(bad()),
        };
        number.checked_mul(factor).map(Self).ok_or_else(bad)
    }
}

/// A whole percentage of one device's time, 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u8);

impl Percent {
    /// `n` percent, if it is in 1..=100.
    #[must_use]
    pub const fn new(n: u8) -> Option<Self> {
        if n >= 1 && n <= 100 { Some(Self(n)) } else { None }
    }
    /// The number, 1 to 100.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// Reads the share of a whole container, in percent of one device: 1..=800 (eight devices at most, DESIGN §4).
///
/// # Errors
/// Anything but a whole number in range; a fraction is refused with the percent spelled out.
pub fn parse_total_share(text: &str) -> Result<u32, ParseError> {
    let range = "a share is a whole percent of one device, 1 to 100 (up to 100 for each device)";
    if let Ok(n) = text.trim().parse::<u32>() {
        return if (1..=800).contains(&n) {
            Ok(n)
        } else {
            Err(ParseError(format!("share {n} is out of range: {range}")))
        };
    }
    if let Ok(x) = text.trim().parse::<f64>()
        && x > 0.0
        && x < 1.0
    {
        let spelled = (x * 100.0).round();
        return Err(ParseError(format!("share {text} is a fraction: {range}; for {text} of a device write {spelled}")));
    }
    Err(ParseError(format!("share \"{text}\" is not a whole number: {range}")))
}

/// A device's UUID, as the driver gives it; its text form is `GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceUuid(pub [u8; 16]);

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 0 | 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for DeviceUuid {
    type Err = ParseError;

    /// Accepts the text form with or without the `GPU-` or `MIG-` prefix.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bad = || {
            ParseError(format!("device \"{text}\" is not a UUID of the form GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"))
        };
        let body = text.strip_prefix("GPU-").or_else(|| text.strip_prefix("MIG-")).unwrap_or(text);
        let hex: Vec<u8> = body.bytes().filter(|b| *b != b'-').collect();
        if hex.len() != 32 {
            return Err(bad());
        }
        let mut out = [0_u8; 16];
        for (byte, pair) in out.iter_mut().zip(hex.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(out))
    }
}

/// The class of a tenant (DESIGN §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Never delayed by the other class.
    #[default]
    Online,
    /// Fills the gaps that the online class leaves.
    Offline,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Online => "online",
            Self::Offline => "offline",
        })
    }
}

impl FromStr for Class {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "online" => Ok(Self::Online),
            "offline" => Ok(Self::Offline),
            _ => Err(ParseError(format!("class \"{text}\" is unknown: the classes are online and offline"))),
        }
    }
}

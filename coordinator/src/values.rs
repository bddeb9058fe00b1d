//! Times and sizes as people write them in the configuration file.

use std::fmt;
use std::str::FromStr;

use mgpu_protocol::units::{Bytes, Nanos, ParseError};
use serde::{Deserialize, Serialize, de};

/// A span of time as written by a person: a whole number and `ns`, `us`, `ms`, `s` or `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Nanos);

const UNITS: [(&str, u64); 5] =
    [("min", 60_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1), ("s", 1_000_000_000)];

impl FromStr for Span {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bad =
            || ParseError(format!("time \"{text}\" is not a whole number with a unit, as 50us, 100ms, 2s or 1min"));
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| bad())?;
        let factor = UNITS.iter().find(|(name, _)| *name == unit.trim_start()).ok_or_else(bad)?.1;
        number.checked_mul(factor).map(|n| Self(Nanos(n))).ok_or_else(bad)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.0;
        for (name, factor) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
            if n >= factor && n.is_multiple_of(factor) {
                return write!(f, "{}{name}", n / factor);
            }
        }
        write!(f, "{n}ns")
    }
}

/// A size as written by a person (`512MiB`), see [`Bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) Bytes);

impl FromStr for Size {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.0 == 0 { f.write_str("0MiB") } else { self.0.fmt(f) }
    }
}

/// Reads and writes a type by its text form, since serde has no such thing built in.
macro_rules! serde_by_text {
    ($($name:ident),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: de::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(de::Error::custom)
            }
        }
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
    )*};
}
serde_by_text!(Span, Size);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_back_as_written() {
        for text in ["50us", "100ms", "2s", "7ns"] {
            assert_eq!(text.parse::<Span>().expect(text).to_string(), text);
        }
        assert_eq!("1min".parse::<Span>().expect("1min").0, Nanos(60_000_000_000));
        assert!("99999999999999s".parse::<Span>().is_err());
    }
}

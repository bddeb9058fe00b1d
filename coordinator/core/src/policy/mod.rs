//! The policies of DESIGN §4.

use std::fmt;
use std::str::FromStr;

use mgpu_protocol::units::ParseError;

/// Which policy a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyKind {
    /// Equal device time for every tenant that wants it.
    Fair,
    /// Never more than its share, even on an idle device.
    FixedShare,
}

impl PolicyKind {
    /// Its name in settings, CLI, metrics and docs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::FixedShare => "fixed-share",
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PolicyKind {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            "fair" => Ok(Self::Fair),
            "fixed-share" => Ok(Self::FixedShare),
            "guaranteed-burst-share" | "native-burst-share" => Err(ParseError(format!(
                "policy \"{text}\" is not in this version: the policies are fair and fixed-share"
            ))),
            _ => Err(ParseError(format!("policy \"{text}\" is unknown: the policies are fair and fixed-share"))),
        }
    }
}

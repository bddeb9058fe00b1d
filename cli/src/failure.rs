//! Why a command failed, for people, with the exit code that scripts see.

use std::fmt;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// What was asked for is not possible: exit code 2, as for a wrong option.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    /// Something that should work does not: exit code 1.
    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The program can't be run: 127 if it is not there, else 126, as a shell says it.
    pub(crate) fn program(message: impl Into<String>, found: bool) -> Self {
        Self { message: message.into(), code: if found { 126 } else { 127 } }
    }

    /// For `exit`.
    pub(crate) const fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

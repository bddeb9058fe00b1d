# Sourced by every script here: where things are, how to say things, how a skip is counted. Sets no shell option.

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Everything that scripts download or build beside cargo's target folder; safe to delete at any time.
CACHE=${MGPU_CACHE:-$REPO/.cache}
VENV=$CACHE/venv
# Profile of what demo, tests and benches run. Figures are only meaningful in release.
TARGET=${CARGO_TARGET_DIR:-$REPO/target}
BIN=$TARGET/release
# The simulated driver's libraries under the names that clients ask for.
SIM_LIB=$TARGET/sim
WORKLOADS=$TARGET/workloads

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Tells cargo's environment whether it was found through rustup's usual place only.
use_cargo() {
    have cargo || { [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH; }
    have cargo || die "no Rust toolchain: install Rust 1.95 or newer (https://rustup.rs), then run this again"
}

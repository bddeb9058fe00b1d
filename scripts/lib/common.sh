# Sourced by every script here: where things are, how to say things, which toolchain is used. Sets no shell option.

unset CDPATH
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Prints PATH, made absolute: the scripts, cargo and the tests start in different folders.
absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$PWD/$1" ;;
    esac
}
# Everything that scripts download or build beside cargo's target folder; safe to delete at any time.
[ -z "${MGPU_CACHE:-}" ] || { MGPU_CACHE=$(absolute "$MGPU_CACHE"); export MGPU_CACHE; }
[ -z "${CARGO_TARGET_DIR:-}" ] || { CARGO_TARGET_DIR=$(absolute "$CARGO_TARGET_DIR"); export CARGO_TARGET_DIR; }
CACHE=${MGPU_CACHE:-$REPO/.cache}
VENV=$CACHE/venv
# Profile of what demo, tests and benches run. Figures are only meaningful in release.
TARGET=${CARGO_TARGET_DIR:-$REPO/target}
BIN=$TARGET/release
# The simulated driver's libraries under the names that clients ask for.
SIM_LIB=$TARGET/sim
WORKLOADS=$TARGET/workloads
# The oldest Rust that builds everything here; Cargo.toml's `rust-version` says the same.
OLDEST_RUST=1.95

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Prints the comment at the head of the running script, its help.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

# Finds cargo in the places where rustup and Debian put it; where there is none, status 1.
find_cargo() {
    have cargo && return 0
    [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ] && PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
}
# Uses the toolchain that is this machine's default, whatever its name: rust-toolchain.toml must not make rustup fetch one.
use_default_toolchain() {
    have rustup && [ -z "${RUSTUP_TOOLCHAIN:-}" ] || return 0
    RUSTUP_TOOLCHAIN=$(cd / && rustup show active-toolchain 2>/dev/null | cut -d' ' -f1)
    if [ -n "$RUSTUP_TOOLCHAIN" ]; then export RUSTUP_TOOLCHAIN; else unset RUSTUP_TOOLCHAIN; fi
}
use_cargo() {
    find_cargo && use_default_toolchain || die "no Rust toolchain: install Rust $OLDEST_RUST or newer (https://rustup.rs), then run this again"
}

# The dynamic loader takes spaces and colons in LD_PRELOAD and LD_LIBRARY_PATH as separators, whatever one does.
check_places() {
    local place
    for place in "$REPO" "$TARGET" "$CACHE"; do
        case $place in
        *[[:space:]:]*) die "libraries can't be preloaded from \"$place\", for the space or colon in it: use another folder" ;;
        esac
    done
}

# What a person has set for their own tenants and GPUs must not reach the nodes that scripts start.
clean_environment() {
    local name
    for name in "${!MGPU_@}" "${!MGPUD_@}"; do
        case $name in MGPU_CACHE | MGPU_REAL_LIBCUDA | MGPU_SEED) ;; *) unset "$name" ;; esac
    done
    unset CUDA_VISIBLE_DEVICES LD_PRELOAD
}

# new_run NAME: sets RUN_MARK, which what is started carries as MGPU_TEST_RUN, and RUN_FOLDER for temporary files; both end with
# this script, an interrupted one included. The folder is short, since paths of sockets are.
new_run() {
    RUN_MARK=$$-$1-$RANDOM
    RUN_FOLDER=$(mktemp -d "/tmp/mgpu-$1.XXXXXX") || die "no temporary folder"
    trap end_run EXIT
}
end_run() {
    local pid
    for pid in $(marked "$RUN_MARK"); do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$RUN_FOLDER"
}

# Prints the pids of processes with MGPU_TEST_RUN=MARK in their environment.
marked() {
    local file pid
    for file in /proc/[0-9]*/environ; do
        if grep -qzxF "MGPU_TEST_RUN=$1" "$file" 2>/dev/null; then
            pid=${file#/proc/}
            printf '%s\n' "${pid%/environ}"
        fi
    done
}

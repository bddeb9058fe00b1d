# Sourced by scripts/test: one function a stage, and the counting. A stage's output goes to a log that is shown when it fails;
# tests are counted from cargo's own result lines and from lines "ok NAME", "FAILED NAME", "skipped: NAME: why" of scripts.

LOGS=$TARGET/test-logs
PASSED=0 FAILED=0 SKIPPED=0
BROKEN_STAGES=()
SKIPS=()

run_stage() {
    local name=$1 log=$LOGS/$1.log start=$SECONDS status=0
    mkdir -p "$LOGS"
    say "== $name"
    ("stage_$name") >"$log" 2>&1 || status=$?
    count "$log"
    if [ $status -ne 0 ]; then
        BROKEN_STAGES+=("$name")
        say "-- $name FAILED after $((SECONDS - start)) s; the end of $log:"
        grep -nE '^(error|FAILED|test .* FAILED|thread .* panicked|---- )' "$log" | head -n 40 >&2
        tail -n 60 "$log" >&2
    else
        say "-- $name passed in $((SECONDS - start)) s"
    fi
}

count() {
    local passed failed skipped
    passed=$(awk '/^test result:/ {sum += $4} /^ok / {sum += 1} END {print sum + 0}' "$1")
    failed=$(awk '/^test result:/ {sum += $6} /^FAILED / {sum += 1} END {print sum + 0}' "$1")
    skipped=$(grep -cE '^skipped: ' "$1")
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
    while IFS= read -r line; do SKIPS+=("$line"); done < <(grep -E '^skipped: ' "$1")
}

summary() {
    local line
    for line in "${SKIPS[@]+"${SKIPS[@]}"}"; do say "$line"; done
    # A stage that broke outside any test (a build error, a script) still counts as one failure.
    if [ ${#BROKEN_STAGES[@]} -gt 0 ]; then
        say "failed stages: ${BROKEN_STAGES[*]}"
        [ "$FAILED" -eq 0 ] && FAILED=1
    fi
    [ "$PASSED" -gt 0 ] || [ ${#BROKEN_STAGES[@]} -gt 0 ] || [ "${ONLY_BUILD:-}" ] || [ "$SKIPPED" -gt 0 ] || say "no test ran"
    printf '%s passed, %s failed, %s skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
    [ "$FAILED" -eq 0 ] && [ ${#BROKEN_STAGES[@]} -eq 0 ]
}

stage_build() {
    build_simulator && build_product && build_workloads
}

stage_check() {
    "$REPO/scripts/check"
}

stage_unit() {
    (cd "$REPO" && cargo test --release --quiet -p mgpu-protocol --all-features -p mgpu-cuda -p mgpu-shim-core \
        -p mgpu-coordinator-core -p mgpu-cli)
}

stage_loom() {
    "$REPO/scripts/loom"
}

stage_sim() {
    (cd "$REPO" && cargo test --release --quiet -p mgpu-sim-gpu -p mgpu-sim-link -p mgpu-sim -p mgpu-sim-cuda -p mgpu-sim-nvml)
}

stage_shim() {
    (cd "$REPO" && cargo test --release --quiet -p mgpu-shim -- --test-threads=2)
}

# Tests of whole nodes measure device time: one after the other, so that they don't disturb each other.
stage_e2e() {
    (cd "$REPO" && cargo test --release --quiet -p mgpu-coordinator -p mgpu-suite -- --test-threads=1)
}

stage_clients() {
    (cd "$REPO" && cargo test --release --quiet -p mgpu-suite --features clients --test clients -- --test-threads=1)
}

# Sourced by scripts/test: one function a stage, and the counting. A stage's output goes to a log that is shown when it fails;
# tests are counted from cargo's own result lines and from lines "ok NAME", "FAILED NAME", "skipped: NAME: why".

LOGS=$TARGET/test-logs
PASSED=0 FAILED=0 SKIPPED=0
BROKEN_STAGES=()
SKIPS=()
TIMES=()

run_stage() {
    local name=$1 log=$LOGS/$1.log start=$SECONDS status=0 passed failed skipped
    mkdir -p "$LOGS"
    say "== $name"
    # Colours would hide the lines that are counted. Nothing in a test may wait for a person.
    new_run test
    mkdir -m 700 "$RUN_FOLDER/run"
    (
        export MGPU_TEST_RUN=$RUN_MARK CARGO_TERM_COLOR=never TMPDIR=$RUN_FOLDER XDG_RUNTIME_DIR=$RUN_FOLDER/run
        # A test that does not lock in a folder of its own leaves its locks here, not on the machine, and is found out.
        export MGPU_LOCK_DIR=$RUN_FOLDER/locks
        "stage_$name"
    ) >"$log" 2>&1 </dev/null || status=$?
    end_leftovers "$RUN_MARK" >>"$log" || status=1
    [ $status -ne 0 ] || leftover_files "$RUN_FOLDER" >>"$log" || status=1
    end_run
    read -r passed failed skipped < <(count "$log")
    [ "$name" = build ] || [ $((passed + failed + skipped)) -gt 0 ] || [ $status -ne 0 ] ||
        { echo "FAILED stage_$name: it ran no test" >>"$log"; failed=1; }
    # A stage that broke outside any test (a build error, a crash) counts as one failure.
    [ $status -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
    while IFS= read -r line; do SKIPS+=("$line"); done < <(skips "$log")
    TIMES+=("$name $((SECONDS - start)) s")
    if [ "$failed" -gt 0 ]; then
        BROKEN_STAGES+=("$name")
        say "-- $name FAILED after $((SECONDS - start)) s ($passed passed, $failed failed, $skipped skipped); from $log:"
        grep -nE '^(error|FAILED|test .* FAILED|thread .* panicked|---- )' "$log" | head -n 40 >&2
        say "-- its end:"
        tail -n 60 "$log" >&2
    else
        say "-- $name passed in $((SECONDS - start)) s ($passed passed, $skipped skipped)"
    fi
}

# Prints "passed failed skipped" of a log. A test that says that it skipped itself is not one that passed, though cargo says so;
# a skip under another name (one client of several, say) is counted beside its test.
count() {
    awk '
        /^test .* \.\.\. ?/ { name = $2; sub(/.*::/, "", name); test[name] = 1 }
        /^test result: / { passed += $4; failed += $6; skipped += $8 }
        /^ok / { passed++ }
        /^FAILED / { failed++ }
        /^skipped: / { skipped++; split($0, part, ": "); skip[part[2]] = 1 }
        END {
            for (name in skip) if (name in test) passed--
            print passed + 0, failed + 0, skipped + 0
        }
    ' "$1"
}

# Prints a line for each skip of a log, with its reason.
skips() { sed -nE 's/^skipped: /skipped: /p; s/^test (.*) \.\.\. ignored(, (.*))?$/skipped: \1: \3/p' "$1"; }

# A stage leaves no process behind. Those that carry its mark in their environment get some time to end by themselves (a
# coordinator of one user goes after its last client); then they are named, ended, and the stage has failed.
end_leftovers() {
    local mark=$1 pid left i
    for i in {1..50}; do
        left=$(marked "$mark")
        [ -z "$left" ] && return 0
        [ "$i" = 50 ] || sleep 0.2
    done
    for pid in $left; do
        echo "FAILED leftover_process: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
        kill -KILL "$pid" 2>/dev/null
    done
    return 1
}

# Nor does a stage that passed leave a file: its tests remove their folders, directories of coordinators, locks.
leftover_files() {
    local file status=0
    while IFS= read -r file; do
        echo "FAILED leftover_file: ${file#"$1/"}"
        status=1
    done < <(find "$1" -mindepth 1 ! -path "$1/run" | head -n 20)
    return $status
}

summary() {
    local line
    for line in "${SKIPS[@]+"${SKIPS[@]}"}"; do say "$line"; done
    say "times: $(printf '%s, ' "${TIMES[@]}" | sed 's/, $//')"
    [ ${#BROKEN_STAGES[@]} -eq 0 ] || say "failed stages: ${BROKEN_STAGES[*]}"
    printf '%s passed, %s failed, %s skipped\n' "$PASSED" "$FAILED" "$SKIPPED"
    [ "$FAILED" -eq 0 ]
}

# All tests of some packages, in the profile that ships: the failure of one doesn't hide the others.
cargo_test() { (cd "$REPO" && cargo test --release --no-fail-fast "$@"); }

stage_build() { build_simulator && build_product && build_workloads; }

stage_check() { "$REPO/scripts/check"; }

stage_unit() {
    cargo_test -p mgpu-protocol --all-features -p mgpu-cuda -p mgpu-shim-core -p mgpu-coordinator-core
}

# The models need the very functions that the shim links, built over loom's atomics: a target folder of their own.
stage_loom() {
    RUSTFLAGS='--cfg loom' cargo_test -p mgpu-protocol --target-dir "$TARGET/loom" --test 'loom_*' -- --nocapture --test-threads=1
}

stage_sim() {
    cargo_test -p mgpu-sim-gpu -p mgpu-sim-link -p mgpu-sim -p mgpu-sim-cuda -p mgpu-sim-nvml
}

stage_shim() { cargo_test -p mgpu-shim -- --test-threads=2; }

stage_daemon() {
    cargo_test -p mgpu-coordinator -p mgpu-cli || return
    # The crash points are in this one build, in another profile, so that no other test meets such a daemon.
    (cd "$REPO" && cargo test --quiet -p mgpu-coordinator --features crash-points --test crash_points)
}

# Tests of whole nodes measure device time: one after the other, so that they don't disturb each other.
stage_e2e() { cargo_test -p mgpu-suite -- --test-threads=1; }

stage_clients() { cargo_test -p mgpu-suite --features clients --test clients -- --test-threads=1; }

#!/usr/bin/env bash
# Runs the concurrent tests under ThreadSanitizer, in a build folder of its own. One argument: which tests (a regular
# expression, as for `swift test --filter`). Any report of a race fails the run.
set -euo pipefail

filter=${1:?usage: Tools/tsan.sh FILTER}
cd "$(dirname "$0")/.."

# Package.swift leaves jemalloc out when this is set: it cannot share a process with the sanitizer's allocator.
export TIDEGAUGE_SANITIZE=1
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1 ${TSAN_OPTIONS:-}"

# Histories of values that one thread makes: no other thread, so no race, and an hour of instrumented arithmetic.
single='RankedHistoryTests|RankedTreeTests|ChangeSetTests|TextConditionTests|QueryTextTests|StatisticsTests'

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift test --sanitize=thread --scratch-path .build-tsan --filter "$filter" --skip "$single" 2>&1 | tee "$log" || status=$?

# The test process may outlive a race and still exit with 0 when a test runs in a child of its own.
if grep -q 'WARNING: ThreadSanitizer' "$log"; then
    echo "tsan: $(grep -c 'WARNING: ThreadSanitizer' "$log") report(s), see above" >&2
    exit 66
fi
exit "$status"

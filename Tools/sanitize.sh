#!/usr/bin/env bash
# Runs tests under a sanitizer, in a build folder of its own. Two arguments: `thread` or `address`, and which tests (a
# regular expression, as for `swift test --filter`). Any report fails the run.
set -euo pipefail

usage='usage: Tools/sanitize.sh thread|address FILTER'
kind=${1:?$usage}
filter=${2:?$usage}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Package.swift leaves jemalloc out when this is set: it cannot share a process with the sanitizer's allocator.
export TIDEGAUGE_SANITIZE=1
# As `make test` builds: what is tested is optimised, with its assertions.
export TIDEGAUGE_OPTIMIZE=1
case $kind in
thread)
    name=ThreadSanitizer
    # The store leaves calls of its engine that meet a damaged page by a jump out of the handler of the signal (CStillingWellEngine.c), which the
    # sanitizer does not see: it would take all that the thread does from then on to be done within the handler. And a child of a fork
    # that opens a store has threads, and a trial that hangs leaves its own, as they are to the end of its process.
    export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1 report_signal_unsafe=0 die_after_fork=0
        report_thread_leaks=0 suppressions=$PWD/Tools/thread-sanitizer.txt ${TSAN_OPTIONS:-}"
    # Histories of values that one thread makes: no other thread, so no race, and an hour of instrumented arithmetic.
    # And images of power cuts, which children of a fork open: two threads of theirs that come to one `once` of Swift's runtime at the
    # same moment wait there for ever, which is rare but under this sanitizer.
    # And a program that a signal is to end because it has no handler: the sanitizer has one, and does not end it.
    skip='RankedHistoryTests|RankedTreeTests|TextConditionTests|QueryTextTests|StatisticsTests|PowerCutTests'
    skip="$skip|SignalTests/unhandled"
    ;;
address)
    name=AddressSanitizer
    # Swift's runtime keeps metadata for good, which the search for leaks takes for leaks.
    export ASAN_OPTIONS="detect_leaks=0 exitcode=66 ${ASAN_OPTIONS:-}"
    skip='^$'
    ;;
*)
    echo "$usage" >&2
    exit 64
    ;;
esac

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
swift test --sanitize="$kind" --scratch-path ".build-$kind" --filter "$filter" --skip "$skip" 2>&1 | tee "$log" || status=$?

# The test process may outlive a report and still exit with 0 when a test runs in a child of its own.
reports=$(grep -c -E "(WARNING|ERROR): $name" "$log" || true)
if [ "$reports" -gt 0 ]; then
    echo "sanitize: $reports report(s) of $name, see above" >&2
    exit 66
fi
exit "$status"

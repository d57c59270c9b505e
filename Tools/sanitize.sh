#!/usr/bin/env bash
# Runs tests under a sanitizer, in a build folder of its own. Arguments: `thread` or `address`, and the tests (a regular
# expression, as for `swift test --filter`). Any report fails the run.
set -euo pipefail

usage='usage: Tools/sanitize.sh thread|address FILTER'
kind=${1:?$usage}
filter=${2:?$usage}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Package.swift leaves out jemalloc if this is set, because it conflicts with the sanitizer's allocator.
export TIDEGAUGE_SANITIZE=1
# The flags of `make test`: optimised, with assertions.
export TIDEGAUGE_OPTIMIZE=1
case $kind in
thread)
    name=ThreadSanitizer
    # If an engine call meets a damaged page, the signal handler leaves the call by a long jump (CStillingWellEngine.c).
    # The sanitizer does not see the jump and would take all later calls of the thread for calls in a handler. A forked
    # child that opens a store has threads. A trial that hangs leaves its threads running until the process ends.
    export TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1 report_signal_unsafe=0 die_after_fork=0
        report_thread_leaks=0 suppressions=$PWD/Tools/thread-sanitizer.txt ${TSAN_OPTIONS:-}"
    # Skipped: tests that use one thread only, which would take an hour of instrumented arithmetic. Tests of power cuts,
    # whose forked children deadlock rarely when two of their threads reach one `once` of Swift's runtime. A test in
    # which a signal without a handler ends a program, because the sanitizer installs a handler.
    skip='RankedHistoryTests|RankedTreeTests|TextConditionTests|QueryTextTests|StatisticsTests|PowerCutTests'
    skip="$skip|SignalTests/unhandled"
    ;;
address)
    name=AddressSanitizer
    # Swift's runtime never frees its metadata, which the leak detector would report.
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

# After a report in a child process, the test process may still exit with 0.
reports=$(grep -c -E "(WARNING|ERROR): $name" "$log" || true)
if [ "$reports" -gt 0 ]; then
    echo "sanitize: $reports report(s) of $name, see above" >&2
    exit 66
fi
exit "$status"

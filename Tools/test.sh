#!/usr/bin/env bash
# Runs `swift test` with line-buffered output, so that the last line names a test that hangs. Repeats the failures at
# the end, because a server may keep only the end of a log. After a test run, the last line counts skipped tests and
# gives the reasons.
# The code is optimised, with assertions. Arguments and exit code are those of `swift test`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export TIDEGAUGE_OPTIMIZE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Backtraces need only line tables. Other debug information takes a tenth of the build time.
stdbuf -oL swift test -Xswiftc -gline-tables-only "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo "== failed:"
    # A mark begins the lines of an issue. The indented lines after it show the difference.
    awk '/^✘|: error:|^error:|[Ff]atal error/ { shown = 12 } /^(◇|✔)/ { shown = 0 } shown-- > 0' "$log" | cut -c 1-1000 | tail -n 80
fi

# "12 skipped: 10 nightly: set TIDEGAUGE_NIGHTLY=1; 2 no sshd here. 96 cases of other tests are left to …"
skipped() {
    local count reasons cases
    count=$(grep -c '^➜ Test .*skipped' "$log")
    reasons=$(sed -n 's/^➜ Test .*skipped[:.] *//p' "$log" | sed 's/^"\(.*\)"\.*$/\1/; s/^$/not for this system or user/' | sort | uniq -c |
        sed 's/^ *//' | paste -sd ';' | sed 's/;/; /g')
    cases=$(awk '/^nightly cases: / { count += $3 } END { print count + 0 }' "$log")
    echo "$count skipped${reasons:+: $reasons}. $cases cases of other tests are left to the nightly run (TIDEGAUGE_NIGHTLY=1)"
}
summary=$(sed -n 's/^[✔✘] Test run with \([0-9]* tests\) in .* \(passed\|failed\) after \([0-9]*\).*/\1 \2 in \3 s/p' "$log" | tail -n 1)
if [ -n "$summary" ]; then echo "== $summary; $(skipped)" | tee .build/tests-summary; fi
exit "$status"

#!/usr/bin/env bash
# Runs `swift test` with line-buffered output, so that the last line names a test that hangs. Repeats the failures at the end, because a
# server may keep only the end of a log. The last line counts the skipped tests and names the reasons. The code under test is built with
# optimisation and with assertions. Arguments go to `swift test`; the exit code is that of `swift test`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export TIDEGAUGE_OPTIMIZE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Lines in backtraces are all that is needed of debug information; the rest takes a tenth of the build.
stdbuf -oL swift test -Xswiftc -gline-tables-only "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo "== failed:"
    # A mark opens the lines of an issue. The indented lines after it show the difference.
    awk '/^✘|: error:|^error:|[Ff]atal error/ { shown = 12 } /^(◇|✔)/ { shown = 0 } shown-- > 0' "$log" | cut -c 1-1000 | tail -n 80
fi

# "12 skipped: 10 nightly: set TIDEGAUGE_NIGHTLY=1; 2 no sshd here. 96 nightly cases left out"
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

#!/usr/bin/env bash
# `swift test`, line by line, so that the last line names the test that hung; and what failed once more at the end, because
# a server may keep no more than that. What is tested is built optimised, with its assertions: most of the time goes into it.
# Arguments go to `swift test`; its exit code is this one's.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export TIDEGAUGE_OPTIMIZE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
stdbuf -oL swift test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo "== failed:"
    # A mark opens the lines of an issue, and indented ones behind it say what differed.
    awk '/^✘|: error:|^error:|[Ff]atal error/ { shown = 12 } /^(◇|✔)/ { shown = 0 } shown-- > 0' "$log" | cut -c 1-1000 | tail -n 80
fi
exit "$status"

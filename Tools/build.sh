#!/usr/bin/env bash
# Builds a product in release mode, and shows the progress and the time left. The estimate is based on the last build of
# the same product, or on a first build on two idle cores. On a terminal the line is overwritten, and otherwise a line
# is printed at intervals. A build of a few seconds prints none. Other output of the build tool is passed on.
#
#   Tools/build.sh PRODUCT    its exit code is that of `swift build`
set -uo pipefail

product=$1
record=.build/progress-$product
# Builds below this number of seconds get no progress line, and are not recorded.
quiet_s=${BUILD_QUIET_S:-10}
every_s=$([ -t 2 ] && echo 1 || echo "${BUILD_EVERY_S:-15}")

# Seconds of a first build of tidegauge on two idle cores. Its steps give no estimate: they are modules of very
# different sizes, and their number grows during the build.
first_s=210

took() { if [ "$1" -lt 120 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# Prints the seconds left: those of the last build from this step on, scaled by the present speed. Builds with a very
# different number of steps are ignored. Prints nothing if there is no estimate.
left() {
    local n=$1 m=$2 so_far=$3
    awk -v n="$n" -v m="$m" -v so_far="$so_far" -v first_s="$first_s" '
        $1 <= n { steps = $2; then_s = $3 }
        { total = $3 }
        END {
            if (then_s > 0 && steps > 0.8 * m && steps < 1.25 * m) printf "%d", (total - then_s) * so_far / then_s
            else if (total == 0 && m > 45 && so_far < first_s) printf "%d", first_s - so_far
        }' "$([ -s "$record" ] && echo "$record" || echo /dev/null)"
}

follow() {
    local line shown_s=0 steps="" n=0 m=0 last="" left_s
    [ ! -s "$record" ] || last=", the last build took $(took "$(awk 'END { print $3 }' "$record")")"
    while IFS= read -r line; do
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            n=${BASH_REMATCH[1]} m=${BASH_REMATCH[2]}
            steps+="$n $m $SECONDS"$'\n'
            if [ "$SECONDS" -lt "$quiet_s" ] || [ $((SECONDS - shown_s)) -lt "$every_s" ]; then continue; fi
            shown_s=$SECONDS
            left_s=$(left "$n" "$m" "$SECONDS")
            line="make: [$n/$m] after $(took "$SECONDS")${left_s:+, about $(took "$left_s") left}$last"
            if [ -t 2 ]; then printf '\r\033[K%s' "$line" >&2; else echo "$line" >&2; fi
        else
            if [ -t 2 ] && [ "$shown_s" -gt 0 ]; then printf '\r\033[K' >&2; fi
            printf '%s\n' "$line"
        fi
    done
    if [ -t 2 ] && [ "$shown_s" -gt 0 ]; then printf '\r\033[K' >&2; fi
    # A build of a few files does not replace the record of a full build.
    local known=0
    [ ! -s "$record" ] || known=$(awk 'END { print $2 }' "$record")
    if [ -d .build ] && [ "$SECONDS" -ge "$quiet_s" ] && [ $((2 * m)) -ge "$known" ]; then
        printf '%s' "$steps$m $m $SECONDS"$'\n' >"$record.new"
    fi
}

rm -f "$record.new"
# Package.swift documents the variable.
TIDEGAUGE_QUICK=1 swift build -c release --product "$product" | follow
status=${PIPESTATUS[0]}
# Only a successful build is recorded.
if [ "$status" -eq 0 ] && [ -e "$record.new" ]; then mv "$record.new" "$record"; else rm -f "$record.new"; fi
exit "$status"

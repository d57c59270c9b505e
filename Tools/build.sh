#!/usr/bin/env bash
# Builds products in release mode, and says meanwhile how far it is and how long is left: by how long the last build of the same
# took from there on, the first time by what a first build takes on two quiet cores. On a terminal one line that is written over, else a line now and
# then; nothing of a build that is over in seconds. What the build tool says beside its steps is passed on.
#
#   Tools/build.sh PRODUCT    its exit code is that of `swift build`
set -uo pipefail

product=$1
record=.build/progress-$product
# Shorter builds are not worth a line, nor being compared with.
quiet_s=${BUILD_QUIET_S:-10}
every_s=$([ -t 2 ] && echo 1 || echo "${BUILD_EVERY_S:-15}")

# What a first build of tidegauge takes on two cores with nothing else to do. Its steps are modules, some of which take a hundred
# times as long as others, and their number grows while it goes on: they tell nothing.
first_s=210

took() { if [ "$1" -lt 120 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# How long is left, in seconds: what the last build took from this step on, stretched by how much longer or shorter than then it took
# to come here. One that had much fewer or more steps is none to go by; nothing where nothing can be said.
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
    # What builds a few files again does not take the place of what built all.
    local known=0
    [ ! -s "$record" ] || known=$(awk 'END { print $2 }' "$record")
    if [ -d .build ] && [ "$SECONDS" -ge "$quiet_s" ] && [ $((2 * m)) -ge "$known" ]; then
        printf '%s' "$steps$m $m $SECONDS"$'\n' >"$record.new"
    fi
}

rm -f "$record.new"
# Package.swift has what the variable does.
TIDEGAUGE_QUICK=1 swift build -c release --product "$product" | follow
status=${PIPESTATUS[0]}
# Of a build that came to its end.
if [ "$status" -eq 0 ] && [ -e "$record.new" ]; then mv "$record.new" "$record"; else rm -f "$record.new"; fi
exit "$status"

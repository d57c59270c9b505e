#!/usr/bin/env bash
# Tests whether a host costs the same for every prefix that starts its agent. One writing process is started as a child
# here, and through each prefix, in turns. Prints the mean ratio of CPU time per commit over the pairs, and its interval
# (95 %, Student's t of the logarithms). Each side of a pair is the minimum of five trials that alternate with the other
# side's, because other load only adds time. There are no observers: whether one runs on the other core changes the cost
# of a commit by 10 %, and differs between prefixes. Fails if an interval is not within 5 % of 1.
#
#   Tools/prove-prefixes.sh [PAIRS [HOSTS]]
#
# HOSTS is a file for `--hosts`. Each line is a host to compare with this one. Without it, a network namespace is used.
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-20} hosts=${2:-}
[ "$pairs" -gt 1 ] || { echo "prove-prefixes: an interval takes two pairs at least" >&2; exit 1; }
binary=${TIDEGAUGE:-$PWD/.build/release/tidegauge}
[ -x "$binary" ] || { echo "prove-prefixes: make build first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/prefix.yaml" <<'END'
purpose: Does a host cost the same whatever leads to it?
represents: prove-prefixes.sh
drivers: [stillingwell]
durability: memory
dataset: { items: 1_000 }
observers: { count: 0 }
writers: { hosts: 1, load: closed, change: { update: score }, rows_per_commit: 10 }
measure: [write_service_time]
gate: write_service_time
warm_up: 100ms
duration: 300ms
repeat: 1
END
if [ -z "$hosts" ]; then
    hosts=$work/hosts
    if [ "$(id -u)" = 0 ]; then words="--net"; else words="--user, --map-current-user, --net"; fi
    echo "namespace: { run: [unshare, $words], binary: $binary }" >"$hosts"
fi
echo "here: { run: [] }" >"$work/here"
while read -r line; do [ -z "$line" ] || echo "$line" >"$work/host-${line%%:*}"; done <"$hosts"

# Prints the nanoseconds of CPU time per commit of the writing process, in one trial.
cost() {
    rm -rf "$work/out"
    "$binary" run "$work/prefix.yaml" --profile ci --hosts "$1" --out "$work/out" --quiet --no-wait >"$work/log" 2>&1 ||
        { tail -5 "$work/log" >&2; exit 1; }
    python3 - "$work/out/latest/journal.ndjson" <<'END'
import json, sys
[trial] = [json.loads(line)["trial"] for line in open(sys.argv[1]) if '"trial"' in line]
cpu = trial["hosts"][0]["cpu"]
print(cpu["processNs"] / cpu["commits"])
END
}

for file in "$work"/host-*; do
    name=${file##*/host-}
    for pair in $(seq "$pairs"); do
        for trial in $(seq 5); do
            # The order alternates, so that a machine that gets slower affects both sides. Each cost is a command of its
            # own, because only the exit code of a line's last command is checked.
            if [ $(((pair + trial) % 2)) = 0 ]; then
                here=$(cost "$work/here")
                there=$(cost "$file")
            else
                there=$(cost "$file")
                here=$(cost "$work/here")
            fi
            echo "$here $there"
        done | awk -v name="$name" '
            NR == 1 || $1 < here { here = $1 } NR == 1 || $2 < there { there = $2 } END { print name, here, there }'
    done
done | tee "$work/pairs" >&2

python3 - "$work/pairs" <<'END'
import math, sys
pairs = {}
for line in open(sys.argv[1]):
    name, here, there = line.split()
    pairs.setdefault(name, []).append((float(here), float(there)))

def quantile(freedom):
    """Returns the 97.5 % quantile of Student's t, by integrating its density."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    x, area, step = 0.0, 0.0, 1e-4
    while area < 0.475:
        area += step * scale * (1 + (x + step / 2) ** 2 / freedom) ** (-(freedom + 1) / 2)
        x += step
    return x

failed = False
for name, costs in pairs.items():
    logs = [math.log(there / here) for here, there in costs]
    mean = sum(logs) / len(logs)
    error = math.sqrt(sum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs))
    low, high = (math.exp(mean + sign * quantile(len(logs) - 1) * error) - 1 for sign in (-1, 1))
    here, there = (sorted(cost[side] for cost in costs)[len(costs) // 2] for side in (0, 1))
    isWithin = -0.05 <= low and high <= 0.05
    failed = failed or not isWithin
    print(f"{name}: {math.expm1(mean):+.1%} a commit, {low:+.1%} to {high:+.1%} over {len(costs)} pairs "
          f"(medians {here / 1e3:.2f} and {there / 1e3:.2f} us){'' if isWithin else ': not within 5 %'}")
sys.exit(failed)
END

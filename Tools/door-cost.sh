#!/usr/bin/env bash
# Prints a table of what the process door costs, by which engines in other processes are measured
# (Engines/scenarios/door-cost.yaml): end_to_end_latency of the echo engines in C, Python and Node at 0, 10 and 5,000
# indices per delivery, and schedule_delay, beside those of the no-op driver. Engines whose interpreter is missing are
# left out. `PROFILE` is ci unless set. The exit code is that of the run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidegauge=${1:-.build/release/tidegauge}
home=$PWD/.build/engines
mkdir -p "$home"
cc -O2 -o "$home/echo-c" Engines/echo-c/engine.c
drivers=(--driver noop)
for indices in 0 10 5000; do
    for engine in c python node; do
        case $engine in
        c) command=$home/echo-c ;;
        python) command="python3 $PWD/Engines/echo-python/engine.py" ;;
        node) command="node $PWD/Engines/echo-node/engine.mjs" ;;
        esac
        if ! command -v "${command%% *}" >/dev/null; then continue; fi
        printf 'name: echo-%s-%s\ncommand: %s %s\n' "$engine" "$indices" "$command" "$indices" >"$home/echo-$engine-$indices.yaml"
        drivers+=(--driver "$home/echo-$engine-$indices.yaml")
    done
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0
"$tidegauge" run Engines/scenarios/door-cost.yaml --profile "${PROFILE:-ci}" --quiet --out "$out" "${drivers[@]}" >&2 || status=$?
python3 - "$out/latest/metrics.csv" <<'PYTHON'
import csv
import sys

figures = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["value"] and row["metric"] in ("end_to_end_latency", "schedule_delay") and row["statistic"] in ("p50", "p99"):
        key = row["driver"], row["variant"]
        figures.setdefault(key, {})[row["metric"], row["statistic"]] = float(row["value"]) / 1000
print("| engine | load | p50, µs | p99, µs | schedule delay p99, µs |\n|---|---|--:|--:|--:|")
for (driver, variant), values in figures.items():
    keys = [("end_to_end_latency", "p50"), ("end_to_end_latency", "p99"), ("schedule_delay", "p99")]
    cells = [f"{values[key]:.0f}" if key in values else "–" for key in keys]
    print(f"| {driver} | {variant} | {' | '.join(cells)} |")
PYTHON
# A closed loop delivers more than 33 million indices in some trials, which then have no figure.
exit "$status"

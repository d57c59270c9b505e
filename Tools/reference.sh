#!/usr/bin/env bash
# Makes Reports/reference anew with the built tidegauge-peers: a timed and a counted run of the engines side by side, the
# scenarios of the store, and counted reads, all of the commit that is checked out. Keeps `calibration`. Takes about 20
# minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

peers=${1:-.build/release/tidegauge-peers}
limit_bytes=1500000
if [ -n "$(git status --porcelain -- . ':!Reports')" ]; then
    echo "reference: files have changed. Commit them, because the reference names its commit" >&2
    exit 64
fi
# The name is relative, so that no folder of this machine gets into the reports.
runs=Reports/reference-runs
trap 'rm -rf "$runs"' EXIT
rm -rf "$runs"

run() {
    local name=$1
    shift
    echo "reference: $name" >&2
    "$peers" run "$@" --profile ci --out "$runs/$name" --quiet >&2
}
run peers side-by-side
run bench
# Few rows, because an engine that fetches all rows again at every commit is slow under callgrind.
few="--count --commits 20 --set dataset.items=1000"
run counts/peers side-by-side $few
run counts/reading Scenarios/reading --driver stillingwell --driver grdb-pool --driver sqlite-hooks $few

reference=Reports/reference
# The proofs of compare are not made here (Docs/compare.md names their commits).
find "$reference" -mindepth 1 -maxdepth 1 ! -name calibration -exec rm -r {} +
cp -r "$runs"/peers/latest/. "$reference"
rm -rf "$reference/trials"
mkdir -p "$reference"/bench "$reference"/counts/{peers,reading}
cp "$runs"/bench/latest/{summary.md,report.html,environment.json} "$reference/bench"
for counts in counts/peers counts/reading; do
    cp "$runs/$counts"/latest/{summary.md,environment.json} "$reference/$counts"
done
bytes=$(find "$reference" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
echo "reference: $bytes bytes"
if [ "$bytes" -gt "$limit_bytes" ]; then
    echo "reference: more than $limit_bytes bytes" >&2
    exit 1
fi

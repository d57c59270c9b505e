#!/usr/bin/env bash
# Builds the package of Tests/Fixtures/ExternalDriver as somebody would who measures a store of their own, and runs a
# scenario on its driver. Not a part of `swift test`: the packages that the harness needs are built anew for it.
set -euo pipefail
cd "$(dirname "$0")/.."

package=Tests/Fixtures/ExternalDriver
scratch=$PWD/.build-external
swift build --package-path "$package" --scratch-path "$scratch"
program=$scratch/debug/my-tidegauge
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
    echo "external: $*" >&2
    exit 1
}

lines=$(wc -l <"$package/Sources/TemplateDriver/TemplateDriver.swift")
[ "$lines" -lt 140 ] || fail "the template has $lines lines; 'under 140' is what README says"
"$program" list drivers | cut -f 1 | grep -qx template || fail "the program does not list its driver"
"$program" run Scenarios/latency/commit-latency.yaml --profile smoke --set dataset.items=1000 --quiet --out "$out"
# Named nowhere, the program's own driver is the one that runs, with the no-op driver beside it.
for metric in end_to_end_latency upkeep_cost harness_cost; do
    grep -q ",template,.*,$metric," "$out/latest/metrics.csv" || fail "there is no $metric of the template"
done
echo "external: the template's driver was built outside of this package and measured"

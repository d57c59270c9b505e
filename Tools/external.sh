#!/usr/bin/env bash
# Builds packages that depend on this one, and runs their programs. Tests/Fixtures/StoreAlone is an application with
# only the store. Tests/Fixtures/ExternalDriver is a driver, alone and beside StillingWell and GRDB. This is not part of
# `swift test`, because each package builds its dependencies again.
#
#   Tools/external.sh          all of them
#   Tools/external.sh store    the application alone, as .ci/run does
set -euo pipefail
cd "$(dirname "$0")/.."

fixtures=$PWD/Tests/Fixtures
scratch=$PWD/.build-external
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
    echo "external: $*" >&2
    exit 1
}

# Runs `swift package` or `swift build` of a fixture. Each fixture has its own build folder.
of() {
    local package=$1 command=$2
    shift 2
    swift "$command" --package-path "$fixtures/$package" --scratch-path "$scratch/$package" "$@"
}

# The store alone: only its package and swift-log are fetched.
brought=$(of StoreAlone package show-dependencies --format flatlist)
[ "$(wc -l <<<"$brought")" = 2 ] && grep -qx swift-log <<<"$brought" ||
    fail "without traits an application should resolve this package and swift-log, and resolves:" $brought
of StoreAlone build
expected=$'notes: 3\ncopy: neap tide\ntitles: fog, neap tide, spring tide\nfound: neap tide'
[ "$("$scratch/StoreAlone/debug/store-alone")" = "$expected" ] || fail "the store does not work alone"
if [ "${1:-}" = store ]; then
    echo "external: the store alone brought swift-log and nothing else"
    exit 0
fi

# A driver alone: neither GRDB nor StillingWell is in its program.
lines=$(wc -l <"$fixtures/ExternalDriver/Sources/TemplateDriver/TemplateDriver.swift")
[ "$lines" -lt 140 ] || fail "the template has $lines lines; 'under 140' is what README says"
of ExternalDriver build --product my-tidegauge
programs=$scratch/ExternalDriver/debug
# Mangled Swift names begin with their module's name.
for module in 4GRDB 12StillingWell; do
    ! grep -qaF "\$s$module" "$programs/my-tidegauge" || fail "a program with a driver of its own has ${module:1} in it"
done
"$programs/my-tidegauge" list drivers | cut -f 1 | grep -qx template || fail "the program does not list its driver"
"$programs/my-tidegauge" run Scenarios/latency/commit-latency.yaml --profile smoke --set dataset.items=1000 --quiet --out "$out"
# Without a `--driver` option the program's own driver runs, with the no-op driver beside it.
for metric in end_to_end_latency upkeep_cost harness_cost; do
    grep -q ",template,.*,$metric," "$out/latest/metrics.csv" || fail "there is no $metric of the template"
done

# The driver beside others, on a shipped scenario.
of ExternalDriver build --product side-by-side
(cd "$out" && "$programs/side-by-side" run commit-latency --driver template --driver stillingwell --driver grdb-pool \
    --profile smoke --set dataset.items=1000 --quiet --out beside)
for peer in stillingwell grdb-pool; do
    grep -o "template beside $peer: [0-9].*" "$out/beside/latest/summary.md" || fail "no ratio to $peer"
done
echo "external: the store alone brought swift-log and nothing else; the template's driver was built outside of this package," \
    "and measured by itself and beside StillingWell and GRDB"

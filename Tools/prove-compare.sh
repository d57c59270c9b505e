#!/usr/bin/env bash
# Proves the results of `tidegauge compare`. Nothing else should run on the machine, except for what other tenants do.
#
#   Tools/prove-compare.sh upkeep      a commit with slower upkeep is red on its gate only, and its reversal is an
#                                      improvement. Two builds, then a few minutes
#   Tools/prove-compare.sh null        100 comparisons of a binary with itself, without common pairs: so few are red that
#                                      the true rate is under 5 % (95 %, one-sided). About an hour
#   Tools/prove-compare.sh power       5 % more CPU per commit is found in 19 of 20 or more, 1 % in 1 of 20 or fewer, a
#                                      tail and a coalescing flaw are found by their figures. Half an hour
#   Tools/prove-compare.sh             all of them
#
# COMPARISONS (100), POWER (20) and PAIRS (20) set the sizes. TIDEGAUGE is the program that compares.
# Writes to Reports/proof.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binary=${TIDEGAUGE:-.build/release/tidegauge}
out=Reports/proof
comparisons=${COMPARISONS:-100}
power=${POWER:-20}
pairs=${PAIRS:-20}
fixtures=Tests/Fixtures/Compare

fail() {
    echo "prove-compare: $*" >&2
    exit 1
}

# Prints scenario and verdict of every gate in the newest comparison.
gates() {
    local run
    run=$(ls -d "$out"/compare-* | sort | tail -n 1)
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["gate"] == "true" { print $at["scenario"], $at["verdict"] }' \
        "$run/effects.csv"
}

# Prints a commit without a branch: HEAD with a patch on top. The commit is the same each time, so it is built once.
commit_with() {
    local index tree
    index=$(mktemp)
    export GIT_INDEX_FILE=$index
    git read-tree HEAD
    git apply --cached "$fixtures/$1"
    tree=$(git write-tree)
    unset GIT_INDEX_FILE
    rm -f "$index"
    GIT_AUTHOR_NAME=proof GIT_AUTHOR_EMAIL=proof@localhost GIT_AUTHOR_DATE='@0 +0000' \
        GIT_COMMITTER_NAME=proof GIT_COMMITTER_EMAIL=proof@localhost GIT_COMMITTER_DATE='@0 +0000' \
        git commit-tree "$tree" -p HEAD -m "$2"
}

prove_upkeep() {
    local slower status=0
    slower=$(commit_with slower-upkeep.patch "Read each row forty times too often")
    local scenarios=(--scenario idle-queries --scenario bulk-write --scenario version-pin)
    "$binary" compare HEAD "$slower" "${scenarios[@]}" --pairs "$pairs" --out "$out" || status=$?
    [ "$status" -eq 1 ] || fail "upkeep: exit code $status where 1 was due"
    [ "$(gates | grep regressed)" = "idle-queries regressed" ] || fail "upkeep: red on $(gates | grep regressed)"
    status=0
    "$binary" compare "$slower" HEAD "${scenarios[@]}" --pairs "$pairs" --out "$out" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || fail "upkeep: the way back ends with $status"
    gates | grep -q "^idle-queries improved$" || fail "upkeep: the way back is not called an improvement"
    echo "upkeep: red on idle-queries alone, and an improvement on the way back"
}

# Prints a number of the machine's calibration.
calibrated() {
    python3 -c 'import json, sys; print(eval(sys.argv[2], {"c": json.load(open(sys.argv[1]))}))' "$out"/calibration/*.json "$1"
}

calibrate() {
    rm -rf "$out/calibration"
    "$binary" calibrate --scenarios "$fixtures" --pairs "$pairs" --out "$out" "$@"
}

prove_null() {
    calibrate --scenario commit-cost --scenario delivery --comparisons "$comparisons"
    local reds
    reds=$(calibrated 'c["falseReds"]')
    # One of 100 may be red: the upper bound of the rate is then 4.7 %.
    [ "$reds" -le $((comparisons / 100)) ] || fail "null: $reds of $comparisons were red"
    cp "$out"/calibration/*.html "$out/null.html"
    cp "$out"/calibration/*.json "$out/null.json"
    echo "null: $reds of $comparisons red"
}

prove_power() {
    calibrate --scenario commit-cost --comparisons 1 --power "$power" --flaw spin=1% --flaw spin=5%
    local called
    called=$(calibrated '[p["called"] for p in c["power"] if p["shim"] == "spin=5%"][0]')
    [ $((called * 20)) -ge $((power * 19)) ] || fail "power: 5 % was called in $called of $power"
    [ "$(calibrated '[p["secondsPerComparison"] < 180 for p in c["power"] if p["shim"] == "spin=5%"][0]')" = True ] ||
        fail "power: a comparison takes more than three minutes"
    echo "power: 5 % called in $called of $power"
    called=$(calibrated '[p["called"] for p in c["power"] if p["shim"] == "spin=1%"][0]')
    [ $((called * 20)) -le "$power" ] || fail "power: 1 % was called in $called of $power"
    echo "power: 1 % called in $called of $power"
    cp "$out"/calibration/*.html "$out/power.html"
    cp "$out"/calibration/*.json "$out/power.json"
    calibrate --scenario delivery --comparisons 1 --power 3 --flaw tail=100:5ms --flaw linger=2:3ms
    calibrated '" ".join(p["shim"] + ": " + ", ".join(p["seenBy"]) for p in c["power"])'
    calibrated '"\n".join(f for p in c["power"] if p["shim"].startswith("linger") for f in p["seenBy"])' |
        grep -q '^coalescing_ratio' || fail "power: a flaw of coalescing was not seen by coalescing_ratio"
    calibrated '"\n".join(f for p in c["power"] if p["shim"].startswith("tail") for f in p["seenBy"])' |
        grep -q '^end_to_end_latency p99' || fail "power: a flaw in the tail was not seen by the p99"
}

case "${1:-all}" in
upkeep) prove_upkeep ;;
null) prove_null ;;
power) prove_power ;;
all)
    prove_upkeep
    prove_null
    prove_power
    ;;
*) fail "there is no proof '$1': upkeep, null or power" ;;
esac

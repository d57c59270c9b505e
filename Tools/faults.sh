#!/usr/bin/env bash
# Proves that tests can fail: applies each patch of Tests/Faults/ to a scratch copy, one at a time, and expects the
# tests it names to fail. Prints a line per fault and exits with 1 unless all are caught, and with 64 if the arguments
# are wrong.
#
#   Tools/faults.sh            all faults
#   Tools/faults.sh NAME…      these only (the file's name without .patch)
#   Tools/faults.sh --part 1/3 the first of three parts
#   Tools/faults.sh --gate     the patches marked for the gate, all at once, on the build that Tools/test.sh left in .build
#   Tools/faults.sh --check    checks that all patches apply, and builds nothing
#   Tools/faults.sh --bench    the patches that a scenario detects, with the release build; names may follow
#
# A patch begins with lines that git does not read:
#   # class: the class of claims it stands for; one or two patches for each class, at most 90 in all
#   # gate: yes, for one cheap patch of each of ten classes, whose guards see no other patch of the gate
#   # fault: what is broken, in a few words
#   # guards: the tests that must fail, each of them, as patterns of `swift test --filter` separated by blanks
#   # bench: a scenario whose `tidegauge run` must fail, a blank, and a pattern that must match a line of its output
#   # claim: the promise that the fault breaks
#
# The scratch copy is the working tree with uncommitted changes. The copy and its build products are kept in
# .build-faults, so that further runs build little. A patch that does not apply or does not build is an error.
#
# --gate applies its patches to the working tree itself, because a build product belongs to the path of its source. It
# reverts them at its end, and the next build replaces the products.
set -uo pipefail
# A backtrace of a crashing program would take minutes and is not needed.
export SWIFT_BACKTRACE=enable=no
# Some guards are tests or cases of the nightly run.
export TIDEGAUGE_NIGHTLY=1

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work="$root/.build-faults"
source="$work/src"
logs="$work/logs"
# A fault may make a test run for ever.
limit_s=${FAULTS_LIMIT_S:-600}

if [ "${1:-}" = --check ]; then
    status=0
    # The patches of prove-compare.sh are checked too.
    for patch in "$root"/Tests/Faults/*.patch "$root"/Tests/Fixtures/Compare/*.patch; do
        if ! (cd "$root" && git apply --check "$patch"); then
            echo "$(basename "$patch") does not apply: make it anew for the code as it is" >&2
            status=1
        fi
    done
    exit $status
fi

# Prints the text of each header line of a patch that has this name.
header() {
    sed -n "/^diff --git/q; s/^# $1: *//p" "$2"
}

report() {
    printf '%-7s %-32s %s\n' "$1" "$2" "$3"
}

if [ "${1:-}" = --gate ]; then
    cd "$root" || exit 1
    unset TIDEGAUGE_NIGHTLY
    export TIDEGAUGE_OPTIMIZE=1
    same_flags=(-Xswiftc -gline-tables-only)
    logs=.build/faults
    mkdir -p "$logs"
    mapfile -t patches < <(grep -l '^# gate: yes' Tests/Faults/*.patch)
    if ! git apply --whitespace=nowarn "${patches[@]}"; then
        echo "faults: the patches of the gate do not apply together" >&2
        exit 1
    fi
    trap 'git apply -R --whitespace=nowarn "${patches[@]}"' EXIT
    trap 'exit 130' INT TERM
    if ! swift build --build-tests "${same_flags[@]}" >"$logs/build.log" 2>&1; then
        tail -n 20 "$logs/build.log" >&2
        echo "faults: the working tree does not build with the patches of the gate; see $logs/build.log" >&2
        exit 1
    fi
    missed=0
    for patch in "${patches[@]}"; do
        name=$(basename "$patch" .patch)
        outcome=caught
        for guard in $(header guards "$patch"); do
            timeout "$limit_s" swift test --skip-build "${same_flags[@]}" --filter "$guard" >"$logs/$name.log" 2>&1 || continue
            outcome=MISSED
            missed=$((missed + 1))
            break
        done
        report "$outcome" "$name" "$(header fault "$patch")"
    done
    echo "$((${#patches[@]} - missed)) caught, $missed missed in $SECONDS s"
    [ "$missed" -eq 0 ]
    exit
fi

by_bench=false
if [ "${1:-}" = --bench ]; then
    by_bench=true
    shift
fi

# Selects every n-th patch, beginning with the k-th, so that the parts take about equal times.
part=1
parts=1
if [ "${1:-}" = --part ]; then
    if ! [[ "${2:-}" =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]; then
        echo "faults: a part is named k/n with 1 <= k <= n, such as 1/4; this is '${2:-}'" >&2
        exit 64
    fi
    part=${BASH_REMATCH[1]}
    parts=${BASH_REMATCH[2]}
    shift 2
fi

mkdir -p "$source" "$logs"

# Makes the scratch copy equal to the working tree. Writes only files that differ, which are built again.
synchronize() {
    local file
    (cd "$root" && git ls-files -z --cached --others --exclude-standard && printf 'Package.resolved\0') |
        sort -zu >"$work/files"
    while IFS= read -r -d '' file; do
        [ -f "$root/$file" ] || continue
        cmp -s "$root/$file" "$source/$file" && continue
        mkdir -p "$(dirname "$source/$file")"
        cp "$root/$file" "$source/$file"
    done <"$work/files"
    (cd "$source" && find . -type f -printf '%P\0' | sort -z) |
        while IFS= read -r -d '' file; do
            if ! [ -f "$root/$file" ] || ! grep -qzxF -- "$file" "$work/files"; then rm -f "${source:?}/$file"; fi
        done
}

# Applies a patch to the scratch copy. Without the ceiling, git would take the copy for a folder of this repository and
# silently skip all paths outside of it.
apply() {
    (cd "$source" && GIT_CEILING_DIRECTORIES="$work" git apply --whitespace=nowarn "$1")
}

build() {
    if $by_bench; then
        swift build -c release --product tidegauge --package-path "$source" --scratch-path "$work/build"
    else
        swift build --build-tests --package-path "$source" --scratch-path "$work/build"
    fi
}

# Runs the tests whose names match a pattern.
run_tests() {
    timeout "$limit_s" swift test --skip-build --package-path "$source" --scratch-path "$work/build" --filter "$1"
}

# Runs a scenario. Succeeds if the scenario passes.
run_scenario() {
    timeout "$limit_s" "$work/build/release/tidegauge" run "$source/$1" --quiet --no-wait --out "$work/reports" 2>&1
}

# Succeeds if a scenario does not detect the fault: it passes, or fails for another reason.
misses() {
    local scenario=${1%% *} pattern=${1#* } output
    output=$(run_scenario "$scenario") && { echo "$output"; green=$scenario; return 0; }
    echo "$output"
    grep -qE -- "$pattern" <<<"$output" && return 1
    green="$scenario ended by something else than '$pattern' and so"
}

# Finds the first of the patterns whose tests pass. Fails if all of them fail.
first_green() {
    local pattern
    for pattern in "$@"; do
        echo "== $pattern"
        if run_tests "$pattern"; then
            green=$pattern
            return 0
        fi
    done
    return 1
}

patches=()
if [ $# -gt 0 ]; then
    for name in "$@"; do
        patch="$root/Tests/Faults/${name%.patch}.patch"
        if ! [ -f "$patch" ]; then
            echo "faults: no fault '$name'; Tests/Faults has: $(cd "$root/Tests/Faults" && ls -- *.patch | sed 's/\.patch$//' | tr '\n' ' ')" >&2
            exit 64
        fi
        patches+=("$patch")
    done
else
    number=0
    for patch in "$root"/Tests/Faults/*.patch; do
        number=$((number + 1))
        [ -f "$patch" ] && [ $((number % parts)) -eq $((part % parts)) ] || continue
        # A patch that only a scenario detects has no guards.
        if [ -z "$(header "$($by_bench && echo bench || echo guards)" "$patch")" ]; then continue; fi
        patches+=("$patch")
    done
fi
if [ ${#patches[@]} -eq 0 ]; then
    echo "faults: no patch in Tests/Faults" >&2
    exit 1
fi

echo "building the scratch copy in .build-faults" >&2
synchronize
if ! build >"$logs/build.log" 2>&1; then
    tail -n 20 "$logs/build.log" >&2
    echo "faults: the working tree does not build; see .build-faults/logs/build.log" >&2
    exit 1
fi

# Without a fault all guards and scenarios must pass, and each guard must match a test.
if $by_bench; then
    for scenario in $(for patch in "${patches[@]}"; do header bench "$patch" | cut -d ' ' -f 1; done | sort -u); do
        echo "without a fault: $scenario" >&2
        if ! run_scenario "$scenario" >"$logs/green.log"; then
            echo "faults: $scenario fails without any fault; see .build-faults/logs/green.log" >&2
            exit 1
        fi
    done
fi
mapfile -t guards < <(for patch in "${patches[@]}"; do header guards "$patch" | tr -s ' ' '\n'; done | sort -u)
if $by_bench; then guards=(); fi
for guard in "${guards[@]}"; do
    echo "without a fault: $guard" >&2
    log="$logs/green.log"
    if ! run_tests "$guard" >"$log" 2>&1; then
        echo "faults: '$guard' is red without any fault; see .build-faults/logs/green.log" >&2
        exit 1
    fi
    if ! grep -qE 'Test run with [1-9][0-9]* test' "$log"; then
        echo "faults: no test is named '$guard'; correct the '# guards:' line of the patch that says so" >&2
        exit 1
    fi
done

passed=0
failed=0
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    log="$logs/$name.log"
    fault=$(header fault "$patch")
    read -ra guards <<<"$(header guards "$patch" | tr '\n' ' ')"
    synchronize
    seen=$(header bench "$patch")
    if $by_bench && [ -z "$seen" ]; then
        outcome="error"
        fault="has no '# bench:' line: name the scenario that must fail, and how"
    elif ! $by_bench && [ ${#guards[@]} -eq 0 ]; then
        outcome="error"
        fault="has no '# guards:' line: name the tests that must turn red"
    elif ! apply "$patch" >"$log" 2>&1; then
        outcome="error"
        fault="does not apply: make it anew for the code as it is ($(head -n 1 "$log"))"
    elif ! build >"$log" 2>&1; then
        outcome="error"
        fault="does not build; see .build-faults/logs/$name.log"
    elif $by_bench && misses "$seen" >"$log" 2>&1; then
        outcome="MISSED"
        fault="$fault; $green stayed green"
    elif ! $by_bench && first_green "${guards[@]}" >"$log" 2>&1; then
        outcome="MISSED"
        fault="$fault; $green stayed green"
    else
        outcome="caught"
    fi
    if [ "$outcome" = caught ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    report "$outcome" "$name" "$fault"
done
synchronize
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

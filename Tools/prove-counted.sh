#!/usr/bin/env bash
# The proofs of counted gates. Tools/prove-compare.sh reads this, and says what each proves; Tools/counted.py makes the
# programs that are compared, and reads what comes of it.
#
# One program does for all: Tests/Fixtures/Compare/planted-instructions.patch plants steps to burn in the commit of
# LiveStore's driver, in what upkeep publishes, and in the delivery to a connection; how many, a
# table says. It is built once for a commit. Each variant is a copy with other numbers in its table, and nothing else of
# it differs.

runs=${COUNTED:-20}
variants=$out/counted
# One writer each, and rows that are loaded in a moment.
three=(--scenario instructions --scenario observed-writes --scenario sorted-reorder --set dataset.items=1000)
one=(--scenario instructions --set dataset.items=1000)
# So many steps that what a role does without them is little beside.
calibrating_steps=50000

read_counts() { python3 Tools/counted.py "$@"; }

# Runs `compare`, keeps what it says in a file, and prints the folder of the comparison. Whether something regressed is
# for the caller to judge; anything worse is a failure.
compared() {
    local said=$1 status=0
    shift
    "$binary" compare "$@" --quiet --driver livestore --out "$out" >"$said" 2>&1 || status=$?
    if [ "$status" -gt 1 ]; then
        tail -n 30 "$said" >&2
        fail "compare $* ended with $status where 0 or 1 was due"
    fi
    sed -n 's|^Report: \(.*\)/compare.html$|\1|p' "$said" | grep . || fail "compare $* names no report: see $said"
}

# The same by counts alone.
counted() { compared "$@" --count-only; }

# Builds the program that all variants are copies of, or finds it.
need_planted_program() {
    [ -z "${planted:-}" ] || return 0
    trap 'rm -rf "$variants"' EXIT
    mkdir -p "$variants"
    local commit run
    commit=$(commit_with planted-instructions.patch "Plant steps to burn")
    echo "the planted program is ${commit:0:12}: it is built once, which takes minutes" >&2
    run=$(counted "$variants/said" "$commit" "$commit" "${one[@]}")
    planted=$(read_counts executable "$run")
}

# A variant in a folder of its own, where no count of an earlier one is found: its name, and the steps of writer, upkeep
# and observer.
variant() {
    rm -rf "${variants:?}/$1"
    read_counts plant "$planted" "$variants/$1/tidegauge" "${@:2}"
}

# One that burns nothing, to compare with. With COUNTED_FAST=1 it is counted once and not each time.
base() {
    [ "${COUNTED_FAST:-0}" = 1 ] && [ -x "$variants/$1/tidegauge" ] || variant "$1" 0 0 0
}

prove_counted_null() {
    need_planted_program
    local number list=$variants/null
    : >"$list"
    for number in $(seq "$runs"); do
        variant base 0 0 0
        variant head 0 0 0
        counted "$variants/said" "$variants/base/tidegauge" "$variants/head/tidegauge" "${three[@]}" >>"$list"
    done
    # shellcheck disable=SC2046  # folders
    read_counts moves --limit 0.003 $(cat "$list") || fail "counted-null: counts moved by more than 0.3 %"
}

# Sets `calibration` to the folder of a comparison of one point, whose head burns everywhere.
calibrate_steps() {
    base base
    variant head "$calibrating_steps" "$calibrating_steps" "$calibrating_steps"
    calibration=$(counted "$variants/said" "$variants/base/tidegauge" "$variants/head/tidegauge" "$@")
}

# The steps that a role has to burn to do a share more, at its place in the table.
steps_for() {
    local role=$1 count
    count=$(read_counts steps "$calibration" "$role" "$2" "$calibrating_steps")
    case $role in
    writer) echo "$count 0 0" ;;
    upkeep) echo "0 $count 0" ;;
    observer) echo "0 0 $count" ;;
    esac
}

prove_counted_power() {
    need_planted_program
    calibrate_steps "${one[@]}"
    local role number size large small job jobs status=0
    for role in writer upkeep observer; do
        large=$(steps_for "$role" 0.015)
        small=$(steps_for "$role" 0.005)
        : >"$variants/$role-large"
        : >"$variants/$role-small"
        for number in $(seq "$runs"); do
            # One point is counted on one core: both at once.
            jobs=()
            for size in large small; do
                base "$size/base"
                # shellcheck disable=SC2086  # three numbers
                variant "$size/head" ${!size}
                counted "$variants/said-$size" "$variants/$size/base/tidegauge" "$variants/$size/head/tidegauge" \
                    "${one[@]}" >>"$variants/$role-$size" &
                jobs+=($!)
            done
            for job in "${jobs[@]}"; do wait "$job"; done
        done
        # shellcheck disable=SC2046  # folders
        read_counts power "$role" --large $(cat "$variants/$role-large") --small $(cat "$variants/$role-small") ||
            status=1
    done
    [ "$status" -eq 0 ] || fail "counted-power: 1.5 % is to be called each time, by its role and function, 0.5 % never"
}

# Whether what a comparison says on the terminal and in its summary holds what counts cannot see, and what clocks cannot.
says_what_is_not_seen() {
    local text words
    for text in "$1" "$2/summary.md"; do
        for words in "counts see no waiting, no contention and no misses of a cache" "clocks see waiting and caches"; do
            grep -qF "$words" "$text" || fail "counted-pair: $text does not say '$words'"
        done
    done
}

prove_counted_pair() {
    need_planted_program
    local run verdicts sides=("$variants/base/tidegauge" "$variants/head/tidegauge")
    # Neighbours slow both sides, which take turns.
    local clocks=(--pairs "$pairs" --keep-noisy) wakes=(--scenarios "$fixtures" --scenario wake-cost)
    variant base 0 0 0
    variant head 0 0 0
    run=$(compared "$variants/said" "${sides[@]}" --scenarios "$fixtures" --scenario bulk-cost "${clocks[@]}" \
        --inject-base none --inject-head wait=10%)
    verdicts=$(read_counts verdicts "$run")
    echo "commits that wait 10 % longer:"
    sed 's/^/  /' <<<"$verdicts"
    says_what_is_not_seen "$variants/said" "$run"
    ! grep -q "^counted .* regressed" <<<"$verdicts" || fail "counted-pair: counts call a wait"
    grep -q "^clock .* regressed" <<<"$verdicts" || fail "counted-pair: clocks do not call a wait of 10 %"

    # In the observer, behind a wake-up: in a commit that does nothing but execute, a quiet machine's clock sees 1.5 % too.
    calibrate_steps "${wakes[@]}"
    # shellcheck disable=SC2046  # three numbers
    variant head $(steps_for observer 0.015)
    run=$(compared "$variants/said" "${sides[@]}" "${wakes[@]}" "${clocks[@]}")
    verdicts=$(read_counts verdicts "$run")
    echo "observers that execute 1.5 % more:"
    sed 's/^/  /' <<<"$verdicts"
    says_what_is_not_seen "$variants/said" "$run"
    grep -q "^counted observer regressed" <<<"$verdicts" || fail "counted-pair: counts do not call 1.5 % more instructions"
    ! grep -q "^clock .* regressed" <<<"$verdicts" || fail "counted-pair: clocks call 1.5 % more instructions"
}

prove_counted_all() {
    local from run limit=${COUNTED_LIMIT_S:-300}
    mkdir -p "$variants"
    trap 'rm -rf "$variants"' EXIT
    # Two programs, since what was counted of one is not counted again; and nothing is kept beside them yet.
    local side
    for side in all-base all-head; do
        rm -rf "${variants:?}/$side"
        mkdir -p "$variants/$side"
        cp "$binary" "$variants/$side/tidegauge"
    done
    from=$SECONDS
    run=$(counted "$variants/said" "$variants/all-base/tidegauge" "$variants/all-head/tidegauge")
    read_counts all "$run" "$((SECONDS - from))" "$limit" || fail "counted-all: see above"
    sed -n 's/^not compared: \(.*, counted: .*\)/  not counted: \1/p' "$variants/said"
}

prove_counted() {
    prove_counted_all
    prove_counted_null
    prove_counted_power
    prove_counted_pair
}

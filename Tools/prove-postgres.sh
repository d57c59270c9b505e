#!/usr/bin/env bash
# Compares the figures of `tidegauge-peers` for `postgres-notify` at a low rate (latency, commits per callback) with
# those of a program over libpq with one clock (prove-postgres.c). Both use one server, in turns. Fails if the medians
# over the turns differ by more than 10 %.
#
#   Tools/prove-postgres.sh [TURNS [RATE [SECONDS]]]
set -euo pipefail
cd "$(dirname "$0")/.."
turns=${1:-5} rate=${2:-50} seconds=${3:-6}

programs=$(dirname "$(readlink -f "$(command -v postgres)" || ls -1 /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -1)")
[ -x "$programs/initdb" ] || { echo "prove-postgres: there is no PostgreSQL server: make servers installs it" >&2; exit 1; }
[ -x .build/release/tidegauge-peers ] || { echo "prove-postgres: make build-peers first" >&2; exit 1; }
work=$(mktemp -d)
as=()
if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid postgres --regid postgres --clear-groups)
    chmod 711 "$work"
fi
mkdir -m 700 "$work/cluster"
[ "$(id -u)" != 0 ] || chown postgres:postgres "$work/cluster"
server=
finish() {
    [ -z "$server" ] || { kill -INT "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
    rm -rf "$work"
}
trap finish EXIT
"${as[@]}" "$programs/initdb" -D "$work/cluster" -U tidegauge -A trust -N --no-instructions --locale=C -E UTF8 >"$work/log" 2>&1
"${as[@]}" "$programs/postgres" -D "$work/cluster" -k "$work/cluster" -c listen_addresses= >>"$work/log" 2>&1 &
server=$!
for _ in $(seq 300); do
    "$programs/pg_isready" -q -h "$work/cluster" && break
    sleep 0.1
done

cc -O2 -Wall -o "$work/prove" Tools/prove-postgres.c $(pkg-config --cflags --libs libpq) -lpthread
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# Prints the value of a statistic of the only trial of a run.
figure() { awk -F, -v metric="$1" -v statistic="$2" '$11 == metric && $12 == statistic { print $13 }' "$work/out/latest/metrics.csv"; }

cat >"$work/proof.yaml" <<END
purpose: Does the harness say what a program apart from it says?
drivers: [postgres-notify]
durability: full
dataset: { items: 1_000 }
observers: { count: 1, match: 0.5, sort: -score, deliver: run-loop }
writers: { threads: 1, rate: $rate/s, change: touch, rows_per_commit: 1 }
measure: [write_to_callback, coalescing_ratio, missed_final]
limits: { missed_final: "== 0" }
gate: write_to_callback
warm_up: 100ms
duration: ${seconds}s
END

for turn in $(seq "$turns"); do
    read -r alone_us alone_ratio < <("$work/prove" "host=$work/cluster user=tidegauge dbname=postgres" "$rate" "$seconds")
    rm -rf "$work/out"
    .build/release/tidegauge-peers run "$work/proof.yaml" --out "$work/out" \
        --set "server.url=postgresql://tidegauge@/postgres?host=$work/cluster" >"$work/run" 2>&1 || { tail -5 "$work/run" >&2; exit 1; }
    harness_us=$(figure write_to_callback p50 | awk '{ print $1 / 1000 }')
    harness_ratio=$(figure coalescing_ratio value)
    echo "turn $turn: apart $alone_us us, $alone_ratio commits a reading; harness $harness_us us, $harness_ratio commits a callback"
    echo "$alone_us" >>"$work/alone_us"
    echo "$alone_ratio" >>"$work/alone_ratio"
    echo "$harness_us" >>"$work/harness_us"
    echo "$harness_ratio" >>"$work/harness_ratio"
done
status=0
for what in us ratio; do
    alone=$(median <"$work/alone_$what") harness=$(median <"$work/harness_$what")
    awk -v alone="$alone" -v harness="$harness" -v what="$what" 'BEGIN {
        difference = harness / alone - 1
        printf "%s: apart %s, harness %s: %+.1f %%\n", what == "us" ? "latency, us" : "commits a callback", alone, harness, difference * 100
        exit difference > 0.1 || difference < -0.1
    }' || status=1
done
[ $status = 0 ] && echo "both agree within 10 %" || echo "they do not agree within 10 %" >&2
exit $status

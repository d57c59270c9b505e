#!/usr/bin/env bash
# Prepares a fresh Debian or Ubuntu machine for the build: checks for Swift and installs missing system libraries.
# Without the right to do so, prints the command. Fast and silent if nothing is missing.
set -euo pipefail

needed_swift=6.3
packages=(liblmdb-dev libjemalloc-dev libpq-dev libsqlite3-dev zlib1g-dev pkg-config)
# Optional packages for some tests. Without valgrind (and strip), instructions are counted only if the processor's
# counters are accessible. They are installed before the build, which uses valgrind's header.
wanted=(valgrind binutils)
command -v java >/dev/null && wanted+=(libhdrhistogram-java)

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

check_swift() {
    command -v swift >/dev/null ||
        fail "Swift is not on the PATH." \
            "Install $needed_swift or later from https://www.swift.org/install/linux/ and run make again."
    local version
    # `swift --version` begins with "Swift version 6.1.2 (…)" or "Apple Swift version …".
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1) || true
    [ -n "$version" ] || fail "\`swift --version\` does not tell a version; is $(command -v swift) a Swift toolchain?"
    [ "$(printf '%s\n%s\n' "$needed_swift" "$version" | sort -V | head -n 1)" = "$needed_swift" ] ||
        fail "Swift $version is too old: $needed_swift or later is needed." \
            "Install it from https://www.swift.org/install/linux/ and run make again."
}

is_installed() {
    # Several packages provide pkg-config, so the program is checked.
    if [ "$1" = pkg-config ]; then
        command -v pkg-config >/dev/null
        return
    fi
    if command -v dpkg-query >/dev/null; then
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
        return
    fi
    # Without dpkg, check for the headers.
    case "$1" in
    liblmdb-dev) [ -e /usr/include/lmdb.h ] || [ -e /usr/local/include/lmdb.h ] ;;
    libsqlite3-dev) [ -e /usr/include/sqlite3.h ] || [ -e /usr/local/include/sqlite3.h ] ;;
    libpq-dev)
        [ -e /usr/include/postgresql/libpq-fe.h ] || [ -e /usr/include/libpq-fe.h ] ||
            [ -e /usr/local/include/libpq-fe.h ]
        ;;
    zlib1g-dev) [ -e /usr/include/zlib.h ] || [ -e /usr/local/include/zlib.h ] ;;
    libjemalloc-dev) [ -e /usr/include/jemalloc/jemalloc.h ] || [ -e /usr/local/include/jemalloc/jemalloc.h ] ;;
    esac
}

install_packages() {
    local missing=() package
    for package in "${packages[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    command -v apt-get >/dev/null ||
        fail "missing: ${missing[*]}, and there is no apt-get here." \
            "Install LMDB, jemalloc, libpq, SQLite and zlib with their headers by the means of this system."
    local line="apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            fail "missing: ${missing[*]}. Run this one line, then make again:" "    sudo sh -c '$line'"
        fi
    fi
    echo "setup: installing ${missing[*]}" >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "$line" >&2 </dev/null ||
        fail "installing failed. Run this line as root to see why, then make again:" "    $line"
}

# Installs optional packages if the user is root.
install_wanted() {
    local missing=() package
    for package in "${wanted[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 0
    echo "setup: installing ${missing[*]} (optional)" >&2
    env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >&2 </dev/null ||
        echo "setup: going on without ${missing[*]}" >&2
}

# Installs a browser for `make page-test`. Ubuntu's package is a snap, which does not run in containers.
install_browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then return 0; fi
    done
    if [ "$(id -u)" -eq 0 ] && grep -qs '^ID=debian' /etc/os-release; then
        echo "setup: installing chromium" >&2
        env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core >&2 \
            </dev/null && return 0
    fi
    fail "there is no Chromium on the PATH." "Install it (Debian: apt-get install chromium) and run make again."
}

# Installs pandas and DuckDB from PyPI for `make data-test`, in an environment that is removed with the builds.
install_tables() {
    local home
    home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.build-data
    if "$home/bin/python3" -c 'import pandas, duckdb' 2>/dev/null; then return 0; fi
    command -v python3 >/dev/null || fail "there is no python3 on the PATH." \
        "Install it (Debian: apt-get install python3-venv) and run make again."
    echo "setup: installing pandas and duckdb into $home" >&2
    # Debian and Ubuntu have a package of its own for virtual environments.
    if ! python3 -c 'import ensurepip' 2>/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3-venv >&2 </dev/null ||
            echo "setup: going on without python3-venv" >&2
    fi
    # An incomplete environment, made without ensurepip or network, is made again.
    rm -rf "$home"
    if python3 -m venv "$home" >&2 && "$home/bin/pip" install --quiet --disable-pip-version-check pandas duckdb >&2; then
        return 0
    fi
    rm -rf "$home"
    fail "pandas and duckdb could not be installed." "They come from PyPI (Debian: apt-get install python3-venv first)."
}

# Installs PostgreSQL for `make servers`. Debian's package would create and start a cluster, which is not needed: a run
# makes its own clusters.
install_servers() {
    local program
    for program in "$(command -v postgres || true)" /usr/lib/postgresql/*/bin/postgres; do
        if [ -x "$program" ]; then return 0; fi
    done
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing postgresql" >&2
        env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql-common >&2 </dev/null &&
            mkdir -p /etc/postgresql-common/createcluster.d &&
            echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/tidegauge.conf &&
            env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql >&2 </dev/null &&
            return 0
    fi
    fail "there is no PostgreSQL server on this machine." \
        "Install it (Debian, Ubuntu: apt-get install postgresql) and run make again; no cluster is needed."
}

check_swift
install_packages
install_wanted
[ "${1:-}" != browser ] || install_browser
[ "${1:-}" != data ] || install_tables
[ "${1:-}" != servers ] || install_servers

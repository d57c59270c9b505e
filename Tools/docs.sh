#!/usr/bin/env bash
# Builds the documentation of LiveStore into .build/docs/LiveStore.doccarchive with the toolchain alone, no network. Fails on
# any warning, and on any public symbol of the module that has no doc comment.
set -euo pipefail
cd "$(dirname "$0")/.."

docs=.build/docs
rm -rf "$docs"
mkdir -p "$docs/symbols"

swift build --target LiveStore >"$docs/build.log" 2>&1 || { cat "$docs/build.log" >&2; exit 1; }
built=$(swift build --show-bin-path)
triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple"[^"]*"\([^"]*\)".*/\1/p')
swift symbolgraph-extract -module-name LiveStore -target "$triple" -minimum-access-level public \
    -I "$built/Modules" -I Sources/CLMDB -Xcc "-fmodule-map-file=$built/CPlatform.build/module.modulemap" \
    -skip-inherited-docs -skip-synthesized-members -output-dir "$docs/symbols" >"$docs/extract.log" 2>&1 ||
    { cat "$docs/extract.log" >&2; exit 1; }

# Symbols that say nothing: their comment is missing, or only inherited.
python3 - "$docs/symbols/LiveStore.symbols.json" <<'PYTHON'
import json, sys

# What a protocol has documented already, of the standard library or the store's own.
known = {"post()", "setDelivery(_:)", "invalidate()", "isCurrent", "checkIsCurrent(_:)", "name",
         "==(_:_:)", "hash(into:)", "startIndex", "endIndex", "makeIterator()", "description", "rawValue", "init(rawValue:)",
         "init(from:)", "encode(to:)", "<(_:_:)", "init(arrayLiteral:)"}
graph = json.load(open(sys.argv[1]))
silent = []
for symbol in graph["symbols"]:
    name = ".".join(symbol["pathComponents"])
    last = symbol["pathComponents"][-1]
    if "docComment" in symbol or last in known or symbol["kind"]["identifier"].endswith(".op") or any(part.startswith("_") for part in symbol["pathComponents"]):
        continue
    where = symbol.get("location")
    if where is None:
        continue
    file = where["uri"].split("/Sources/")[-1]
    silent.append(f"Sources/{file}:{where['position']['line'] + 1}: {name} has no doc comment")
for line in sorted(silent):
    print(line, file=sys.stderr)
sys.exit(1 if silent else 0)
PYTHON

docc convert Sources/LiveStore/LiveStore.docc \
    --fallback-display-name LiveStore --fallback-bundle-identifier LiveStore \
    --additional-symbol-graph-dir "$docs/symbols" --output-dir "$docs/LiveStore.doccarchive" \
    --diagnostics-file "$docs/diagnostics.json" >"$docs/convert.log" 2>&1 || { cat "$docs/convert.log" >&2; exit 1; }

# A method's `file` and `line` need no words of their own, and DocC has no way to be told so.
python3 - "$docs/diagnostics.json" <<'PYTHON'
import json, sys

found = [one for one in json.load(open(sys.argv[1]))["diagnostics"] if not one["summary"].endswith("is missing documentation")]
for one in found:
    place = one.get("source", "").split("/Sources/")[-1]
    line = one.get("range", {}).get("start", {}).get("line", "?")
    print(f"Sources/{place}:{line}: {one['summary']}", file=sys.stderr)
sys.exit(1 if found else 0)
PYTHON
echo "documentation: $docs/LiveStore.doccarchive"

#!/usr/bin/env bash
# Builds the documentation of StillingWell into .build/docs/StillingWell.doccarchive with the toolchain alone, without
# network. Fails on warnings, on public symbols of the module or its re-exported modules without a doc comment, on
# documented throwing functions without a `- Throws:` line, and on more public declarations than the bound below.
set -euo pipefail
cd "$(dirname "$0")/.."

# The flags of the test build, so that its products are reused.
export TIDEGAUGE_OPTIMIZE=1
docs=.build/docs
rm -rf "$docs"
mkdir -p "$docs/symbols"

swift build -Xswiftc -gline-tables-only --target StillingWell >"$docs/build.log" 2>&1 || { cat "$docs/build.log" >&2; exit 1; }
built=$(swift build -Xswiftc -gline-tables-only --show-bin-path)
triple=$(swift -print-target-info | sed -n 's/.*"unversionedTriple"[^"]*"\([^"]*\)".*/\1/p')
swift symbolgraph-extract -module-name StillingWell -target "$triple" -minimum-access-level public \
    -experimental-allowed-reexported-modules=StillingWellTree \
    -I "$built/Modules" -I Sources/CStillingWellLMDB -Xcc "-fmodule-map-file=$built/CStillingWellPlatform.build/module.modulemap" \
    -Xcc "-fmodule-map-file=$built/CStillingWellEngine.build/module.modulemap" \
    -skip-inherited-docs -skip-synthesized-members -output-dir "$docs/symbols" >"$docs/extract.log" 2>&1 ||
    { cat "$docs/extract.log" >&2; exit 1; }

# Finds symbols without documentation, and throwing functions without a `- Throws:` line. Requirements of protocols are
# documented in the protocol, and the symbol graph names them. Underscored symbols are internal.
python3 - "$docs/symbols/StillingWell.symbols.json" <<'PYTHON'
import glob, json, os, sys

# Public declarations of the module and of its extensions of other types. Error codes do not count, and underscored
# names are not in the graph.
MOST_DECLARATIONS = 410

graph = json.load(open(sys.argv[1]))
asked_for = {one["source"] for one in graph["relationships"] if "sourceOrigin" in one}


def throws(symbol):
    """Whether the function itself does, rather than a closure among its parameters."""
    depth = 0
    for word in "".join(part["spelling"] for part in symbol["declarationFragments"]).replace("(", " ( ").replace(")", " ) ").split():
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word == "throws":
            return True
    return False


faults = []
for symbol in graph["symbols"]:
    path = symbol["pathComponents"]
    place = symbol.get("location")
    if place is None or any(part.startswith("_") for part in path):
        continue
    words = "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))
    if not words:
        reason = None if symbol["identifier"]["precise"] in asked_for else "has no doc comment"
    elif throws(symbol) and "- Throws:" not in words:
        reason = "throws, and its doc comment does not say what: add a '- Throws:' line"
    else:
        reason = None
    if reason:
        file = place["uri"].split("/Sources/")[-1]
        faults.append(f"Sources/{file}:{place['position']['line'] + 1}: {'.'.join(path)} {reason}")

count, codes = 0, 0
for file in glob.glob(os.path.join(os.path.dirname(sys.argv[1]), "*.symbols.json")):
    for symbol in json.load(open(file))["symbols"]:
        isCode = symbol["kind"]["identifier"] == "swift.enum.case" and symbol["pathComponents"][0] == "StoreError"
        codes, count = codes + isCode, count + (not isCode)
print(f"public declarations: {count}, and {codes} error codes")
if count > MOST_DECLARATIONS:
    faults.append(f"{count} public declarations, at most {MOST_DECLARATIONS}: make plumbing internal, or remove a second spelling")

for line in sorted(faults):
    print(line, file=sys.stderr)
sys.exit(1 if faults else 0)
PYTHON

docc convert Sources/StillingWell/StillingWell.docc \
    --fallback-display-name StillingWell --fallback-bundle-identifier StillingWell \
    --additional-symbol-graph-dir "$docs/symbols" --output-dir "$docs/StillingWell.doccarchive" \
    --diagnostics-file "$docs/diagnostics.json" >"$docs/convert.log" 2>&1 || { cat "$docs/convert.log" >&2; exit 1; }

# Parameters `file` and `line` need no documentation. DocC has no option for that, so its warnings of missing
# documentation are left out.
python3 - "$docs/diagnostics.json" <<'PYTHON'
import json, sys

found = [one for one in json.load(open(sys.argv[1]))["diagnostics"] if not one["summary"].endswith("is missing documentation")]
for one in found:
    place = one.get("source", "").split("/Sources/")[-1]
    line = one.get("range", {}).get("start", {}).get("line", "?")
    print(f"Sources/{place}:{line}: {one['summary']}", file=sys.stderr)
sys.exit(1 if found else 0)
PYTHON
echo "documentation: $docs/StillingWell.doccarchive"

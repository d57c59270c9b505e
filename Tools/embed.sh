#!/bin/sh
# embed.sh ROOT OUTPUT FILE…: a Swift file with the text of each FILE, by its path from ROOT. Run by the build.
set -eu
root=$1 output=$2
shift 2
{
    echo '// Made by Tools/embed.sh of what stands in Scenarios/.'
    echo 'enum EmbeddedScenarios {'
    echo '    static let texts: [String: String] = ['
    for file; do
        printf '"%s": ##"""\n' "$file"
        cat "$root/$file"
        # The line break before the closing quotes is none of the text's.
        printf '\n"""##,\n'
    done
    echo ']'
    echo '}'
} >"$output"

#!/bin/sh
# embed.sh ROOT OUTPUT NAME FILE…: writes a Swift file with an enum NAME, which has the text of each FILE by its path
# relative to ROOT. The build runs it.
set -eu
root=$1 output=$2 name=$3
shift 3
{
    echo '// Made by Tools/embed.sh.'
    echo "enum $name {"
    echo '    static let texts: [String: String] = ['
    for file; do
        printf '"%s": ##"""\n' "$file"
        cat "$root/$file"
        # The line break before the closing quotes is not part of the text.
        printf '\n"""##,\n'
    done
    echo ']'
    echo '}'
} >"$output"

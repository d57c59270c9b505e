#!/usr/bin/env bash
# Writes a Markdown file as one comment under a pull request, and updates that comment when it runs again. The comment
# is found by its first line, an invisible marker. Needs bash, curl and jq, and nothing else of this repository.
#
#   GITHUB_TOKEN=… GITHUB_REPOSITORY=owner/name sticky-comment.sh NUMBER FILE [NAME]
#
# NUMBER is the pull request's number. NAME distinguishes several comments of one pull request (default: tidegauge). The
# token needs write access to pull requests. A fork's token never has it, which is reported without an error.
set -euo pipefail

number=${1:?number of the pull request} file=${2:?file of Markdown} name=${3:-tidegauge}
: "${GITHUB_TOKEN:?a token that may write to pull requests}" "${GITHUB_REPOSITORY:?owner/name}"
api=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues
marker="<!-- sticky comment: $name -->"
# GitHub's limit is 65,536 characters.
longest=65000
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call METHOD URL [FILE]: puts the answer's body into $answer and its status into $status.
call() {
    # A POST without an answer may have succeeded, so a retry could make a second comment.
    local retry=3
    if [ "$1" = POST ]; then retry=0; fi
    status=$(curl --silent --show-error --retry $retry --output "$answer" --write-out '%{http_code}' --request "$1" \
        --header "Authorization: Bearer $GITHUB_TOKEN" --header 'Accept: application/vnd.github+json' \
        ${3:+--data-binary "@$3"} "$2")
    case $status in
    2??) ;;
    401 | 403)
        echo "::warning title=No comment::$name: the token may not comment on #$number (that of a fork never may)"
        exit 0
        ;;
    *)
        echo "sticky-comment: $1 $2: $status: $(jq -r '.message? // empty' "$answer" 2>/dev/null || head -c 200 "$answer")" >&2
        exit 1
        ;;
    esac
}

# Finds the oldest comment that begins with the marker. A long discussion has several pages.
own=
for ((page = 1; ; page++)); do
    call GET "$api/$number/comments?per_page=100&page=$page"
    own=$(jq --raw-output --arg marker "$marker" 'map(select((.body // "") | startswith($marker))) | first | .id // empty' "$answer")
    if [ -n "$own" ] || [ "$(jq length "$answer")" -lt 100 ]; then break; fi
done

body=$(mktemp)
trap 'rm -f "$answer" "$body"' EXIT
jq --raw-input --slurp --arg marker "$marker" --argjson longest "$longest" \
    '{body: ($marker + "\n" + if length > $longest then .[:$longest] + "\n\n… (cut: the rest is in the report)" else . end)}' \
    "$file" >"$body"
if [ -n "$own" ]; then
    call PATCH "$api/comments/$own" "$body"
else
    call POST "$api/$number/comments" "$body"
fi
echo "sticky-comment: $(jq --raw-output '.html_url // "written"' "$answer")"

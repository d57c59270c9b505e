#!/usr/bin/env bash
# Puts a file of Markdown under a pull request as one comment, and into that same comment when it is run again: the comment is
# known by its first line, a marker that nobody sees. Needs bash, curl and jq, and nothing else of this repository.
#
#   GITHUB_TOKEN=… GITHUB_REPOSITORY=owner/name sticky-comment.sh NUMBER FILE [NAME]
#
# NUMBER is the pull request's; NAME keeps several comments of one pull request apart (default: tidegauge). The token has to be
# allowed to write to pull requests. That of a fork's pull request never is: this is said, and is no failure.
set -euo pipefail

number=${1:?number of the pull request} file=${2:?file of Markdown} name=${3:-tidegauge}
: "${GITHUB_TOKEN:?a token that may write to pull requests}" "${GITHUB_REPOSITORY:?owner/name}"
api=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues
marker="<!-- sticky comment: $name -->"
# GitHub takes 65 536 characters.
longest=65000
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call METHOD URL [FILE]: the answer's body in $answer, its status in $status.
call() {
    # A post that got no answer may have been made all the same: asking again could leave two comments.
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

# The oldest comment that begins with the marker; a long discussion has several pages.
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

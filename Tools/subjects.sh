#!/usr/bin/env bash
# Checks the subjects of commits that are not on origin/main yet, except merges: `area: verb object`, at most 72
# characters. Skipped, with a remark, in a clone that has no origin/main.
set -euo pipefail
if ! git rev-parse --quiet --verify origin/main >/dev/null 2>&1; then
    echo "== subjects of commits not checked: there is no origin/main" >&2
    exit
fi
# Characters instead of bytes, whatever the caller's locale is.
export LC_ALL=C.UTF-8
form='^[a-z][a-z0-9, /-]*: [^ ]'
code=0
while IFS= read -r line; do
    hash=${line%% *}
    subject=${line#* }
    [ "${#subject}" -le 72 ] || { echo "$hash: ${#subject} characters, at most 72 may be in a subject: $subject" >&2; code=1; }
    [[ $subject =~ $form ]] || { echo "$hash: write 'area: verb object': $subject" >&2; code=1; }
done < <(git log --no-merges --format='%h %s' origin/main..HEAD)
exit "$code"

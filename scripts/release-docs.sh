#!/usr/bin/env bash
# Copies the pages for readers into the folder of a release, and every file of the repository that they link to, so that no link of
# README.md leads nowhere.
#   scripts/release-docs.sh DIR
set -euo pipefail
mkdir -p "$1"
target=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# copy PATH: a file, or the files of a folder that git knows.
copy() {
  git ls-files -- "$1" | while read -r file; do
    mkdir -p "$target/$(dirname "$file")"
    cp "$file" "$target/$file"
  done
}

for page in README.md LICENSE CHANGELOG.md SECURITY.md CONTRIBUTING.md CODE_OF_CONDUCT.md docs; do copy "$page"; done

# links prints the paths to which the copied pages link.
links() {
  (cd "$target" && grep -oE '\]\([^)#: ]+[)#]' -r --include='*.md' .) | sed -E 's|^\./||; s|[^/]*\.md:\]\(||; s|[)#]$||' |
    sort -u | xargs -d '\n' realpath -m --relative-to=.
}

# A copied page may have links of its own, so repeat until nothing is missing.
copied=1
while [ "$copied" -gt 0 ]; do
  copied=0
  while read -r path; do
    if [ ! -e "$target/$path" ] && git ls-files --error-unmatch -- "$path" >/dev/null 2>&1; then
      copy "$path"
      copied=$((copied + 1))
    fi
  done < <(links)
done

#!/usr/bin/env bash
# check_headers.bash COMPILER INCLUDE_DIRS HEADER...: each header compiles alone, with the include
# folders of its layer only (separated by semicolons). Names every header that does not.
#
# A unity build hides a missing #include: files in front of it bring what it lacks. Compiling all
# headers alone takes 9 minutes of a core. These take 25 seconds, and seconds more for each change:
# - headers that differ from where the branch left main (on main: from the commit before). This needs
#   git;
# - one in 6 of those that include one of them, for they may have lived on what it included;
# - one in 48 of all headers.
# The ones in 6 and in 48 are others every day. All headers are taken with FATUNE_TEST_EXHAUSTIVE set, as
# every night.
set -euo pipefail

compiler=$1
IFS=';' read -ra folders <<<"$2"
shift 2
flags=(-std=c++20 -fsyntax-only -w -x c++)
for folder in "${folders[@]}"; do flags+=("-I$folder"); done

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
git() { command git -C "$root" -c safe.directory='*' "$@" 2>/dev/null; }

# base: the commit that changes are counted from; fails without one.
base() {
  local fork
  fork=$(git merge-base HEAD origin/main) || fork=
  if [[ -n $fork && $fork != "$(git rev-parse HEAD)" ]]; then echo "$fork"; else git rev-parse --verify HEAD^; fi
}

# changed: the headers of src that differ from there, as they are included: "core/config.hpp".
changed() {
  local from
  from=$(base) || return 0
  { git diff --name-only "$from" -- src; git ls-files --others --exclude-standard -- src; } |
    sed -n 's#^src/\(.*\.hpp\)$#\1#p'
}

mapfile -t changed_headers < <(changed)

is_changed() { [[ " ${changed_headers[*]} " == *" ${1#"$root"/src/} "* ]]; }

includes_changed() {
  [[ ${#changed_headers[@]} -gt 0 ]] &&
    grep '^#include "' -- "$1" | grep --quiet --fixed-strings "${changed_headers[@]/#/--regexp=}"
}

today=$((10#$(date -u +%j)))
# is_one_in N HEADER: whether it is today.
is_one_in() { [[ $((($(cksum <<<"${2##*/}" | cut -d' ' -f1) + today) % $1)) -eq 0 ]]; }

is_taken() {
  [[ -n ${FATUNE_TEST_EXHAUSTIVE:-} ]] || is_changed "$1" || is_one_in 48 "$1" ||
    { is_one_in 6 "$1" && includes_changed "$1"; }
}

bad=0
for header in "$@"; do
  ! is_taken "$header" || "$compiler" "${flags[@]}" "$header" ||
    { echo "does not compile alone: $header"; bad=1; }
done
exit "$bad"

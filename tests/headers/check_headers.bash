#!/usr/bin/env bash
# check_headers.bash COMPILER INCLUDE_DIRS HEADER...: compiles each header alone, with only the include folders of its
# layer (separated by semicolons). Names every header that fails.
#
# A unity build hides a missing #include, because files before it provide what it lacks. Compiling all
# headers alone takes 9 minutes of one core. The following selection takes 25 seconds, and seconds more
# for each change:
# - headers that differ from the branch point on main (on main: from the previous commit). This needs
#   git;
# - one in 6 of the headers that include one of those, because they may depend on what it included;
# - one in 48 of all headers.
# A header's contents decide whether it is among the ones in 6 and in 48, so a commit always has the same selection.
# FATUNE_TEST_EXHAUSTIVE, which is set every night, selects all headers.
set -euo pipefail

compiler=$1
IFS=';' read -ra folders <<<"$2"
shift 2
flags=(-std=c++20 -fsyntax-only -w -x c++)
for folder in "${folders[@]}"; do flags+=("-I$folder"); done

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
git() { command git -C "$root" -c safe.directory='*' "$@" 2>/dev/null; }

# base: prints the commit from which changes are counted. Fails if there is none.
base() {
  local fork
  fork=$(git merge-base HEAD origin/main) || fork=
  if [[ -n $fork && $fork != "$(git rev-parse HEAD)" ]]; then echo "$fork"; else git rev-parse --verify HEAD^; fi
}

# changed: prints the headers of src that differ from that commit, as they are included: "model/config.hpp".
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

# is_one_in N HEADER: whether the header is among the one in N that the contents select.
is_one_in() { [[ $(($(cksum <"$2" | cut -d' ' -f1) % $1)) -eq 0 ]]; }

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

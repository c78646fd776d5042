#!/usr/bin/env bash
# check_headers.bash COMPILER INCLUDE_DIRS HEADER...: each header compiles alone, with the include
# folders of its layer only (separated by semicolons). Names every header that does not. A header that
# is the first thing its own .cpp includes is compiled alone by the preset dev and by scripts/lint. Takes about one in
# nine of the others, or all with FATUNE_TEST_EXHAUSTIVE set, as every night.
set -euo pipefail

compiler=$1
IFS=';' read -ra folders <<<"$2"
shift 2
flags=(-std=c++20 -fsyntax-only -w -x c++)
for folder in "${folders[@]}"; do flags+=("-I$folder"); done

# first_include FILE: what its first #include names.
first_include() { grep --max-count=1 '^#include' -- "$1" | tr -d '"<>' | cut -d' ' -f2; }

is_compiled_alone_elsewhere() {
  local header=$1 source=${1%.hpp}.cpp
  [[ -f $source && $header == */"$(first_include "$source")" ]]
}

checksum() { cksum <<<"${1##*/}" | cut -d' ' -f1; }

is_left_out() { [[ -z ${FATUNE_TEST_EXHAUSTIVE:-} && $(($(checksum "$1") % 9)) -ne 0 ]]; }

bad=0
for header in "$@"; do
  is_compiled_alone_elsewhere "$header" || is_left_out "$header" || "$compiler" "${flags[@]}" "$header" ||
    { echo "does not compile alone: $header"; bad=1; }
done
exit "$bad"

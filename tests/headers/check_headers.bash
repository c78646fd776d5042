#!/usr/bin/env bash
# check_headers.bash COMPILER INCLUDE_DIRS HEADER...: each header compiles alone, with the include
# folders of its layer only (separated by semicolons). Names every header that does not.
set -euo pipefail

compiler=$1
IFS=';' read -ra folders <<<"$2"
shift 2
flags=(-std=c++20 -fsyntax-only -w -x c++)
for folder in "${folders[@]}"; do flags+=("-I$folder"); done

bad=0
for header in "$@"; do
  "$compiler" "${flags[@]}" "$header" || { echo "does not compile alone: $header"; bad=1; }
done
exit "$bad"

# Tests docs/reference.md: its table of exit codes has the numbers of src/base/error.hpp, and its table of
# environment variables has exactly the variables that the program and scripts/ read. Names that the kernels use as well
# are macros, not variables.
set -euo pipefail
cd -- "$SCRIPTS/.."

read_somewhere() {
  grep -rhoE '"(FATUNE|XDG)_[A-Z0-9_]+"' src --include='*.cpp' --include='*.hpp' | tr -d '"'
  grep -rhoE '(environment_variable|getenv)\("[A-Z_]+"\)' src | sed -E 's/.*"(.*)".*/\1/'
  grep -rhoE '\$\{FATUNE_[A-Z_]+:-' scripts | tr -d '${:-'
  grep -hoE 'ENV\{CUDA_[A-Z]+\}' cmake/*.cmake | sed -E 's/.*\{(.*)\}/\1/'
}
bad=0
numbers() { grep -oE "$1" "$2" | grep -oE '[0-9]+' | sort -n; }
diff <(numbers '^  [a-z_]+ = [0-9]+' src/base/error.hpp) \
  <(sed -n '/^## Exit codes/,/^## /p' docs/reference.md | numbers '^\| [0-9]+ ' /dev/stdin) ||
  { echo "FAILED: the exit codes in docs/reference.md are not those of src/base/error.hpp"; bad=1; }

is_macro() { grep -rqw -- "$1" kernels; }

mapfile -t documented < <(sed -n '/^## Environment/,/^## /p' docs/reference.md | grep '^|' | cut -d'|' -f2 |
  grep -oE '[A-Z][A-Z0-9_]+' | sort -u)
while read -r name; do
  is_macro "$name" || [[ " ${documented[*]} " == *" $name "* ]] ||
    { echo "FAILED: docs/reference.md's table of environment variables lacks $name"; bad=1; }
done < <(read_somewhere | sort -u)
for name in "${documented[@]}"; do
  grep -rqw -- "$name" src scripts cmake || [[ $name == CUDA_VISIBLE_DEVICES ]] ||
    { echo "FAILED: nothing reads $name, which docs/reference.md has"; bad=1; }
done
exit "$bad"

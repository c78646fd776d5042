# wheel_module.bash PROGRAM: makes a wheel of PROGRAM, installs it in two ways, and uses its Python module without a GPU.
# Exits 77 (skipped) without pip or the tool that packs wheels, which pip downloads the first time.
source "$(dirname -- "${BASH_SOURCE[0]}")/package_folder.bash"
export FATUNE_LIBCUDA=/nonexistent/libcuda.so.1 XDG_DATA_HOME="$WORK/data"
wheel_tool version >/dev/null || exit 77

for round in first second; do
  work="$WORK/$round"
  mkdir -p "$work/installed/bin" "$work/out"
  cp -- "$1" "$work/installed/bin/fatune"
  echo "terms" >"$work/copyrights"
  pack_wheel "$work/wheel" "$work/out" 2>/dev/null >/dev/null
  sleep 1
done
wheel="$(echo first/out/*.whl)"
cmp -- "$wheel" "second/out/${wheel##*/}" || fail "not the same bytes twice"
wheel_tool unpack --dest unpacked "$wheel" >/dev/null
diff --recursive --exclude=__pycache__ "$fatune_root/src/python/fatune" "unpacked/fatune-$version/fatune" ||
  fail "the wheel's module is not the one of the sources"
grep --quiet '^Requires-Python: >=3.9$' "unpacked/fatune-$version/fatune-$version.dist-info/METADATA" ||
  fail "the wheel does not say which Python the module needs"

# The program is found beside the module, although it is not on the PATH.
pip=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-index --no-deps)
"${pip[@]}" --target target "$wheel"
"${pip[@]}" --ignore-installed --prefix "$WORK/prefix" "$wheel"
for folder in target prefix; do
  module="$(find "$folder" -path '*/fatune/__init__.py')"
  program="$(find "$folder" -path '*/bin/fatune' -type f)"
  PYTHONPATH="$(dirname -- "$module")/.." python3 -B - "$program" <<'PYTHON' || fail "the module of $folder does not work"
import os, sys, fatune
assert os.path.samefile(fatune.program(), sys.argv[1]), fatune.program()
run = fatune.sweep(device="none", seq=256, dhead=64, dtype="fp16", space="prog")
assert run["complete"] and not run["measured"], run
assert [row["rank"] for row in fatune.records(run)] == list(range(1, 8)), run
PYTHON
done

# Tests scripts/lib/build.bash: it builds only when something changed, once for several callers, and prints nothing on
# standard output. A failed build shows its log and is tried again. The test has its own source tree, whose "build"
# appends a line to a file.
set -euo pipefail

fail() { echo "FAILED: $*"; exit 1; }
rm -rf -- "$WORK"
mkdir -p "$WORK/tree/"{cmake,configs,kernels,src,scripts/lib}
cd "$WORK/tree"
cp "$SCRIPTS/lib/build.bash" scripts/lib/
printf '#!/bin/sh\nexit 0\n' >scripts/setup
chmod +x scripts/setup
touch src/source nvrtc
cat >CMakePresets.json <<'EOF'
{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/release",
  "cacheVariables": {"Nvrtc_LIBRARY": {"type": "FILEPATH", "value": "${sourceDir}/nvrtc"}}}]}
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(tree NONE)
add_custom_target(fatune COMMAND sh "${CMAKE_SOURCE_DIR}/build.sh" WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
EOF
printf 'set -e\ntest ! -e broken\nsleep 0.2\necho built >>builds\n' >build.sh

call() { bash -euc 'source scripts/lib/build.bash; build_preset release fatune'; }
expect_builds() {  # expect_builds COUNT WHAT
  local count
  count="$(wc -l <builds)"
  [[ $count -eq $1 ]] || fail "$2: $count builds instead of $1"
}

out="$(call 2>messages)"
[[ -z $out ]] || fail "writes to standard output: $out"
grep -q '^fatune: building' messages || fail "does not say that it builds"
expect_builds 1 "the first call"

call 2>messages
expect_builds 1 "a second call"
[[ ! -s messages ]] || fail "says something when there is nothing to do: $(cat messages)"

sleep 0.02; touch src/source
call 2>/dev/null
expect_builds 2 "an edited file"

sleep 0.02; touch src/another
call 2>/dev/null
expect_builds 3 "an added file"

rm nvrtc
call 2>/dev/null
expect_builds 4 "NVRTC gone"
touch nvrtc

sleep 0.02; touch src/source broken
call 2>messages && fail "hides a failed build"
grep -q 'failed: cmake --build' messages || fail "does not say what failed: $(cat messages)"
rm broken
call 2>/dev/null
expect_builds 5 "after a failed build"

sleep 0.02; touch src/source
pids=()
for _ in 1 2 3 4; do
  call 2>/dev/null &
  pids+=("$!")
done
for pid in "${pids[@]}"; do wait "$pid" || fail "one of several callers failed"; done
expect_builds 6 "four callers at a time"

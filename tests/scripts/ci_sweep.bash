# Tests the tuning job without a GPU, with the real program, on the smallest built-in space. Also tests what the job
# refuses. $1 is the program.
set -euo pipefail

fail() { echo "FAILED: $*"; exit 1; }
export FATUNE=$1 XDG_CACHE_HOME="$WORK/cache"
rm -rf -- "$WORK/out"
mkdir -p "$WORK"

"$SCRIPTS/ci_sweep" --no-gpu --seq 512 --dtype fp16 --space prog --arch sm_80 --out "$WORK/out"
for file in plan.json compile.json results.json results.csv best_configs.json summary.md report.html check.md; do
  [[ -s $WORK/out/$file ]] || fail "$file is missing"
done
grep -q '"measured": *true' "$WORK/out/results.json" && fail "claims to have measured"
summary=$WORK/out/summary.md
grep -q "NOT MEASURED" <(head -n 1 "$summary") || fail "the summary does not begin with what the times are"
grep -q "fastest of 7 on b16 s512 h16 d128 FP16: (FP16, .* % of the tensor cores' peak" <(head -n 4 "$summary") ||
  fail "the summary does not begin with the winner"
[[ $(grep -c '^| *[1-9]' "$summary") -eq 5 ]] || fail "the ranking in the summary does not have 5 rows"

# A winner that is wrong on a ragged length fails the job, although the sweep has only whole ones, and the summary says
# so.
code=0
"$SCRIPTS/ci_sweep" --no-gpu --seq 512 --dtype fp16 --dhead 32 --kernel-dir "$SCRIPTS/../tests/families/off_by_one" \
  --arch sm_80 --out "$WORK/ragged" >/dev/null || code=$?
[[ $code -eq 6 ]] || fail "a winner that is wrong on a ragged length: exit code $code instead of 6"
grep -q "wrong_result" "$WORK/ragged/summary.md" || fail "the summary does not say that the winner is wrong"

expect_refusal() {  # expect_refusal TEXT ARGUMENT...
  local text=$1 code=0 message
  shift
  message="$("$SCRIPTS/ci_sweep" "$@" 2>&1)" || code=$?
  [[ $code -eq 2 ]] || fail "ci_sweep $*: exit code $code instead of 2"
  grep -q -- "$text" <<<"$message" || fail "ci_sweep $*: does not say '$text'"
}
expect_refusal "say --gpu, --no-gpu or --verify" --seq 512
expect_refusal "unknown argument: --bogus" --no-gpu --bogus
expect_refusal "--kernel-dir needs a value" --no-gpu --kernel-dir
expect_refusal "--seq needs a value" --no-gpu --seq

# If a program fails, the job must fail.
FATUNE=false "$SCRIPTS/ci_sweep" --no-gpu --out "$WORK/false" >/dev/null 2>&1 && fail "hides a failure"

# expect_reason TEXT ARGUMENT...: the job fails, and its summary says why.
expect_reason() {
  local text=$1
  shift
  "$SCRIPTS/ci_sweep" --no-gpu --seq 64 --dhead 128 --dtype fp16 --arch sm_80 --out "$WORK/bad" "$@" >/dev/null 2>&1 &&
    fail "ci_sweep $* succeeds"
  grep -q "^\*\*ci_sweep --no-gpu failed with exit code [1-9]" <(head -n 1 "$WORK/bad/summary.md") ||
    fail "ci_sweep $*: the summary does not begin with the failure"
  grep -q -- "$text" "$WORK/bad/summary.md" || fail "ci_sweep $*: the summary does not say '$text'"
}
expect_reason "is not a folder" --kernel-dir "$WORK/missing"
expect_reason "has no space 'nonsense'" --space nonsense
# A kernel that is wrong: the reasons are grouped, below the winner.
expect_reason "^## not in the rankings: [1-9]" --kernel-dir "$SCRIPTS/../tests/families/broken_flash"

# Shipped winners: fatune's answer decides. If there are no winners for this GPU model, that is not a failure.
expect_verified() {  # expect_verified CODE_OF_FATUNE OUTPUT CODE
  printf '#!/bin/sh\nprintf "%%s" "%s"\nexit %s\n' "$2" "$1" >"$WORK/answers"
  chmod +x "$WORK/answers"
  local code=0
  FATUNE="$WORK/answers" "$SCRIPTS/ci_sweep" --verify --out "$WORK/verify" >/dev/null 2>&1 || code=$?
  [[ $code -eq $3 ]] || fail "--verify ends with $code, not $3, when fatune ends with $1"
}
expect_verified 0 "{}" 0
expect_verified 2 "" 0
expect_verified 11 "{}" 11
expect_verified 13 "{}" 13
exit 0

# Tests the summary that scripts/test prints for a CTest run in which tests end in every possible
# way: 2 pass, 3 fail by themselves, 1 times out, 1 has no program, 3 are skipped and 1 is disabled.
set -euo pipefail

diff "$1/ctest_results.summary" <(awk -f "$SCRIPTS/lib/test_summary.awk" "$1/ctest_results.xml")

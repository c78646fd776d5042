# Sourced by tests of scripts/lib/package_files.bash: goes to an empty folder, and sets what its functions need.
set -euo pipefail

# shellcheck disable=SC2034  # for those functions
fatune_root="$(realpath -- "$SCRIPTS/..")" version=9.8.7
export SOURCE_DATE_EPOCH=1700000000
rm -rf -- "$WORK"
mkdir -p "$WORK"
cd -- "$WORK"
fail() { echo "FAILED: $*"; exit 1; }
say() { echo "$*"; }
source "$SCRIPTS/lib/package_files.bash"

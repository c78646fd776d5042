# scripts/unpack_cuda_wheels takes the right files from a wheel, and leaves what was there alone when
# one is missing. Exits 77 (skipped) without Python, which is needed only where wheels are.
set -euo pipefail
command -v python3 >/dev/null || exit 77

fail() { echo "FAILED: $*"; exit 1; }
rm -rf -- "$WORK"
mkdir -p "$WORK/wheels" "$WORK/cuda"
echo kept >"$WORK/cuda/old"
wheel() {  # wheel FILE MEMBER...
  python3 - "$WORK/wheels/$1" "${@:2}" <<'EOF'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for member in sys.argv[2:]:
        archive.writestr(member, member)
EOF
}

wheel nvrtc.whl nvidia/cu13/include/nvrtc.h nvidia/cu13/lib/libnvrtc.so.13 \
  nvidia/cu13/lib/libnvrtc.alt.so.13 nvidia/cu13/lib/libnvrtc-builtins.so.13.0 \
  nvidia/cu13/include/../../../evil nvidia_cuda_nvrtc-13.0.88.dist-info/licenses/License.txt

if "$SCRIPTS/unpack_cuda_wheels" "$WORK/wheels" "$WORK/cuda" 2>"$WORK/error"; then
  fail "succeeded without cuda.h"
fi
grep -q 'include/cuda.h' "$WORK/error" || fail "does not say what is missing: $(cat "$WORK/error")"
[[ $(cat "$WORK/cuda/old") == kept ]] || fail "lost the old folder"

wheel runtime.whl nvidia/cu13/include/cuda.h nvidia/cu13/lib/libcudart.so.13
"$SCRIPTS/unpack_cuda_wheels" "$WORK/wheels" "$WORK/cuda"
diff <(cd "$WORK/cuda" && find . -type f | sort) - <<'EOF' || fail "wrong files"
./include/cuda.h
./include/nvrtc.h
./lib/libnvrtc-builtins.so.13.0
./lib/libnvrtc.so.13
./licences/nvidia_cuda_nvrtc-13.0.88.txt
EOF
wheel nvdisasm.whl nvidia/cu13/bin/nvdisasm nvidia/cu13/bin/other
"$SCRIPTS/unpack_cuda_wheels" --tools "$WORK/wheels" "$WORK/cuda_tools"
[[ -x $WORK/cuda_tools/bin/nvdisasm ]] || fail "nvdisasm is not there, or not executable"
[[ ! -e $WORK/cuda_tools/bin/other && ! -e $WORK/cuda_tools/include ]] || fail "too many files"
[[ ! -e $WORK/cuda/bin ]] || fail "a tool among the libraries"

[[ $(find "$WORK" -maxdepth 1 -name 'cuda.*') == "" ]] || fail "left a staging folder"

# Tests that scripts/unpack_cuda_wheels takes the right files from a wheel, and changes nothing if a file is missing.
# Exits 77 (skipped) without Python, which is needed only where wheels are used.
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

wheel runtime.whl nvidia/cu13/include/cuda.h nvidia/cu13/include/cuda_fp16.h \
  nvidia/cu13/include/cooperative_groups/details/sync.h nvidia/cu13/lib/libcudart.so.13
wheel crt.whl nvidia/cu13/include/crt/host_defines.h
wheel cccl.whl nvidia/cu13/include/cccl/nv/target nvidia/cu13/include/cccl/cuda/std/array \
  nvidia/cu13/include/cccl/cub/cub.cuh nvidia/cu13/include/cccl/thrust/sort.h nvidia/cu13/include/thrust/sort.h
wheel cupti.whl nvidia/cu13/include/cupti_range_profiler.h nvidia/cu13/include/cupti_activity.h \
  nvidia/cu13/lib/libcupti.so.13 nvidia/cu13/lib/libcheckpoint.so nvidia/cu13/lib/libnvperf_host.so \
  nvidia/cu13/lib/libnvperf_target.so
wheel nvtx.whl nvidia/cu13/include/nvtx3/nvToolsExt.h nvidia/cu13/include/nvtx3/nvtx3.hpp \
  nvidia/cu13/include/nvtx3/nvtxDetail/nvtxImpl.h
"$SCRIPTS/unpack_cuda_wheels" "$WORK/wheels" "$WORK/cuda"
diff <(cd "$WORK/cuda" && find . -type f | sort) - <<'EOF' || fail "wrong files"
./include/cccl/cuda/std/array
./include/cccl/nv/target
./include/cooperative_groups/details/sync.h
./include/crt/host_defines.h
./include/cuda.h
./include/cuda_fp16.h
./include/cupti_activity.h
./include/cupti_range_profiler.h
./include/nvrtc.h
./include/nvtx3/nvToolsExt.h
./include/nvtx3/nvtx3.hpp
./include/nvtx3/nvtxDetail/nvtxImpl.h
./lib/libcupti.so.13
./lib/libnvperf_host.so
./lib/libnvperf_target.so
./lib/libnvrtc-builtins.so.13.0
./lib/libnvrtc.so.13
./licences/nvidia_cuda_nvrtc-13.0.88.txt
EOF
wheel nvdisasm.whl nvidia/cu13/bin/nvdisasm nvidia/cu13/bin/other
if "$SCRIPTS/unpack_cuda_wheels" --tools "$WORK/wheels" "$WORK/cuda_tools" 2>"$WORK/error"; then
  fail "succeeded without cuobjdump"
fi
grep -q 'bin/cuobjdump' "$WORK/error" || fail "does not say what is missing: $(cat "$WORK/error")"
wheel cuobjdump.whl nvidia/cu13/bin/cuobjdump
"$SCRIPTS/unpack_cuda_wheels" --tools "$WORK/wheels" "$WORK/cuda_tools"
for tool in nvdisasm cuobjdump; do
  [[ -x $WORK/cuda_tools/bin/$tool ]] || fail "$tool is not there, or not executable"
done
[[ ! -e $WORK/cuda_tools/bin/other && ! -e $WORK/cuda_tools/include ]] || fail "too many files"
[[ ! -e $WORK/cuda/bin ]] || fail "a tool among the libraries"

[[ $(find "$WORK" -maxdepth 1 -name 'cuda.*') == "" ]] || fail "left a staging folder"

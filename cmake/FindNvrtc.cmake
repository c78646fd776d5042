# NVRTC and the CUDA headers: from a toolkit (CUDA_HOME, /usr/local/cuda*), or from PyPI's nvidia-*
# wheels as scripts/setup unpacks them into build/cuda (FATUNE_CUDA_ROOT overrides).
set(FATUNE_CUDA_ROOT "" CACHE PATH "Folder that holds include/nvrtc.h, include/cuda.h and lib*/libnvrtc.so*")
file(GLOB _toolkits /usr/local/cuda-*)
list(SORT _toolkits COMPARE NATURAL ORDER DESCENDING)
set(_roots "${FATUNE_CUDA_ROOT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda ${_toolkits}
    "${CMAKE_SOURCE_DIR}/build/cuda")
list(REMOVE_ITEM _roots "")
find_path(Nvrtc_INCLUDE_DIR nvrtc.h HINTS ${_roots} PATH_SUFFIXES include)
find_path(CudaDriver_INCLUDE_DIR cuda.h HINTS ${_roots} PATH_SUFFIXES include)
find_library(Nvrtc_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12 HINTS ${_roots}
             PATH_SUFFIXES lib64 lib lib/x86_64-linux-gnu targets/x86_64-linux/lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nvrtc REQUIRED_VARS Nvrtc_LIBRARY Nvrtc_INCLUDE_DIR
                                  CudaDriver_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Run scripts/setup: it finds a CUDA toolkit or brings NVRTC from PyPI.")
if(Nvrtc_FOUND AND NOT TARGET Nvrtc::Nvrtc)
  add_library(Nvrtc::Nvrtc UNKNOWN IMPORTED)
  set_target_properties(Nvrtc::Nvrtc PROPERTIES
    IMPORTED_LOCATION "${Nvrtc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Nvrtc_INCLUDE_DIR};${CudaDriver_INCLUDE_DIR}")
endif()

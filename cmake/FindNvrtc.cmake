# Finds NVRTC and the CUDA headers: FATUNE_CUDA_ROOT if it is set, or else the first of CUDA_HOME, CUDA_PATH,
# /usr/local/cuda*, build/cuda (where scripts/setup unpacks NVIDIA's PyPI wheels) and /usr that has nvrtc.h, cuda.h and
# libnvrtc of CUDA 12.0 or later (kernels are C++20, and sm_90a must be known).
#
# It also runs as a script, for scripts/setup: `cmake -P cmake/FindNvrtc.cmake` fails if none is found.
set(_nvrtc_min_version 12000)  # as CUDA_VERSION in cuda.h: 1000 * major + 10 * minor
get_filename_component(_source_dir "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(CMAKE_FIND_LIBRARY_PREFIXES lib)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
else()
  set(FATUNE_CUDA_ROOT "" CACHE PATH "Folder that holds include/nvrtc.h, include/cuda.h and lib*/libnvrtc.so*")
endif()

# A cached result may have been removed or upgraded since.
foreach(_entry Nvrtc_LIBRARY Nvrtc_INCLUDE_DIR)
  if(${_entry} AND NOT EXISTS "${${_entry}}")
    unset(${_entry} CACHE)
  endif()
endforeach()

function(_nvrtc_cuda_version include_dir out_var)
  file(STRINGS "${include_dir}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9]+" version "${line}")
  set(${out_var} "${version}" PARENT_SCOPE)
endfunction()

if(NOT Nvrtc_LIBRARY)
  file(GLOB _toolkits /usr/local/cuda-*)
  list(SORT _toolkits COMPARE NATURAL ORDER DESCENDING)
  set(_roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda ${_toolkits}
      "${_source_dir}/build/cuda" /usr)
  if(FATUNE_CUDA_ROOT)
    set(_roots "${FATUNE_CUDA_ROOT}")
  endif()
  foreach(_root IN LISTS _roots)
    foreach(_entry Nvrtc_INCLUDE_DIR Nvrtc_LIBRARY)
      unset(${_entry} CACHE)
    endforeach()
    find_path(Nvrtc_INCLUDE_DIR NAMES nvrtc.h PATHS "${_root}" NO_DEFAULT_PATH
              PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
    find_library(Nvrtc_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12 PATHS "${_root}" NO_DEFAULT_PATH
                 PATH_SUFFIXES lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu
                               targets/x86_64-linux/lib targets/sbsa-linux/lib)
    if(Nvrtc_INCLUDE_DIR AND Nvrtc_LIBRARY AND EXISTS "${Nvrtc_INCLUDE_DIR}/cuda.h")
      _nvrtc_cuda_version("${Nvrtc_INCLUDE_DIR}" _version)
      if(_version AND NOT _version LESS _nvrtc_min_version)
        break()
      endif()
    endif()
    set(Nvrtc_INCLUDE_DIR Nvrtc_INCLUDE_DIR-NOTFOUND)
    set(Nvrtc_LIBRARY Nvrtc_LIBRARY-NOTFOUND)
    unset(Nvrtc_INCLUDE_DIR CACHE)
    unset(Nvrtc_LIBRARY CACHE)
  endforeach()
endif()

if(CMAKE_SCRIPT_MODE_FILE)
  if(NOT Nvrtc_LIBRARY)
    message(FATAL_ERROR "no CUDA toolkit with NVRTC 12.0 or later")
  endif()
  message(STATUS "NVRTC: ${Nvrtc_LIBRARY}")
  return()
endif()

if(Nvrtc_INCLUDE_DIR)
  _nvrtc_cuda_version("${Nvrtc_INCLUDE_DIR}" _version)
  math(EXPR _major "${_version} / 1000")
  math(EXPR _minor "${_version} % 1000 / 10")
  set(Nvrtc_VERSION "${_major}.${_minor}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nvrtc REQUIRED_VARS Nvrtc_LIBRARY Nvrtc_INCLUDE_DIR
  VERSION_VAR Nvrtc_VERSION
  REASON_FAILURE_MESSAGE "Run scripts/setup: it finds a CUDA toolkit or brings NVRTC from PyPI.")
mark_as_advanced(Nvrtc_LIBRARY Nvrtc_INCLUDE_DIR)
if(Nvrtc_FOUND AND NOT TARGET Nvrtc::Headers)
  # CUPTI's headers are beside these, or in another folder in older toolkits. Neither is required.
  get_filename_component(_cupti_include "${Nvrtc_INCLUDE_DIR}/../extras/CUPTI/include" ABSOLUTE)
  set(_nvrtc_includes "${Nvrtc_INCLUDE_DIR}")
  if(EXISTS "${_cupti_include}")
    list(APPEND _nvrtc_includes "${_cupti_include}")
  endif()
  # Only the headers: libraries are opened at run time.
  add_library(Nvrtc::Headers INTERFACE IMPORTED)
  set_target_properties(Nvrtc::Headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_nvrtc_includes}")
endif()

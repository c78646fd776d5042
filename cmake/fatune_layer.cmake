# fatune_layer(NAME SOURCES a.cpp ... [LINK targets...])
#
# One static library per folder of src/. Links are PRIVATE, so that a layer cannot find headers of a layer that
# src/CMakeLists.txt does not let it include. Each layer exports only its own folder, as an include directory that
# contains a link to that folder and nothing else.
function(fatune_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(target fatune_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  # <build>/layers/<name>/<name> -> src/<name>: #include "<name>/file.hpp" resolves for users of
  # this target only.
  set(include_root "${CMAKE_BINARY_DIR}/layers/${name}")
  file(MAKE_DIRECTORY "${include_root}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/src/${name}" "${include_root}/${name}" SYMBOLIC)
  target_include_directories(${target} PUBLIC "${include_root}")
  target_compile_options(${target} PRIVATE ${FATUNE_WARNINGS})
  foreach(layer IN LISTS FATUNE_LAYERS_OF_${name})
    target_link_libraries(${target} PRIVATE fatune_${layer})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  if(TARGET fatune_headers AND NOT name MATCHES "^(runtime|emulator)$")  # which have options of their own
    target_precompile_headers(${target} REUSE_FROM fatune_headers)
  endif()
endfunction()

set(FATUNE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
    # GCC judges: what else Clang says under these names is style, or two files' names in one.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces;-Wno-shadow;-Wno-unused-lambda-capture>)
# Debian 12's compiler, with which the sources are developed. Later compilers have more warnings, and these must not
# break a user's build.
if(FATUNE_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND FATUNE_WARNINGS -Werror)
endif()

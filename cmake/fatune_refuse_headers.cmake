# fatune_refuse_headers(TARGET)
#
# From here on, a file that includes a header of the imported TARGET does not compile unless its own
# target links TARGET, even if the header is on the compiler's default path. Without this, a missing
# link shows only on machines that have the headers nowhere else.
#
# Folders given with -isystem are searched in order, and CMake puts those of linked targets first. A
# header of the same name that contains an #error is found after these and before the default path.
function(fatune_refuse_headers target)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  string(MAKE_C_IDENTIFIER "${target}" name)
  set(refusing "${CMAKE_BINARY_DIR}/refused_headers/${name}")
  foreach(folder IN LISTS folders)
    # The compiler ignores -isystem for this folder, and would find the refusing headers first.
    if(folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      return()
    endif()
    file(GLOB headers RELATIVE "${folder}" "${folder}/*.h" "${folder}/nvtx3/*.h")
    foreach(header IN LISTS headers)
      file(CONFIGURE OUTPUT "${refusing}/${header}"
        CONTENT "#error \"${header}: this file's CMake target has to link ${target}\"\n")
    endforeach()
  endforeach()
  add_compile_options("SHELL:-isystem ${refusing}")
endfunction()

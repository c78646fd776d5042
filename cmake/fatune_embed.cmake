# fatune_embed(OUT_VAR ROOT FILES...)
#
# Embeds files in the program: writes an assembler file that includes each of them with .incbin, and a table of (path
# relative to ROOT, first byte, size) that src/base/file_tree.cpp reads. A file outside ROOT is given as NAME=FILE.
# No file is copied or re-encoded, and a changed file rebuilds only the assembler object.
function(fatune_embed out_var root)
  set(asm "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.S")
  set(data "")
  set(table "")
  set(index 0)
  set(files "")
  foreach(item IN LISTS ARGN)
    if(item MATCHES "^([^/][^=]*)=(.*)$")
      set(name "${CMAKE_MATCH_1}")
      set(file "${CMAKE_MATCH_2}")
    else()
      set(file "${item}")
      file(RELATIVE_PATH name "${root}" "${file}")
    endif()
    list(APPEND files "${file}")
    string(APPEND data "name_${index}: .asciz \"${name}\"\nbegin_${index}: .incbin \"${file}\"\nend_${index}: .byte 0\n")
    string(APPEND table "  .quad name_${index}, begin_${index}, end_${index} - begin_${index}\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT "${asm}" @ONLY CONTENT
"  .section .rodata
${data}
  .section .data.rel.ro, \"aw\"
  .balign 8
  .globl fatune_embedded_table
fatune_embedded_table:
${table}
  .globl fatune_embedded_count
  .balign 8
fatune_embedded_count: .quad ${index}
  .section .note.GNU-stack, \"\", @progbits
")
  set_source_files_properties("${asm}" PROPERTIES OBJECT_DEPENDS "${files}" LANGUAGE ASM)
  set(${out_var} "${asm}" PARENT_SCOPE)
endfunction()

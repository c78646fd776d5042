# fatune_join_d3(FILE): writes D3's modules (FindD3.cmake) into FILE as one script that a page can have inline. The
# copyright and the licence of each module are in a comment before it. CMake writes it again when a module changes.
function(fatune_join_d3 file)
  set(script "")
  foreach(module licence IN ZIP_LISTS D3_FILES D3_LICENCES)
    file(READ "${module}" code)
    file(READ "${licence}" terms)
    string(FIND "${terms}" "*/" comment_end)
    # Text that would end the element <script>, or that a browser changes when it reads the page.
    if("${code}${terms}" MATCHES "</[sS][cC][rR][iI][pP][tT]|<!--|\r" OR NOT comment_end EQUAL -1)
      message(FATAL_ERROR "${module} or ${licence} cannot be put into a page")
    endif()
    string(APPEND script "/*!\n${terms}*/\n${code}\n")
  endforeach()
  file(WRITE "${file}.new" "${script}")
  file(COPY_FILE "${file}.new" "${file}" ONLY_IF_DIFFERENT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${D3_FILES} ${D3_LICENCES})
endfunction()

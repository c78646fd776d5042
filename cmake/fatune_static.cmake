# For FATUNE_STATIC. It must be included before libraries are searched. The program then needs nothing but the C
# library, and is identical byte for byte wherever the sources and the build are.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -fstack-protector-strong -D_FORTIFY_SOURCE=2)
add_link_options(-static-libstdc++ -static-libgcc -s LINKER:--as-needed,-z,relro,-z,now)

# fatune_link_statically(): Debian has no static libraries of fmt and spdlog, but their headers are complete. The
# linker leaves out the shared libraries that their targets name, because nothing in them is used. pugixml has both
# kinds.
function(fatune_link_statically)
  set_property(TARGET fmt::fmt APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
  set_property(TARGET spdlog::spdlog PROPERTY INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
  set_property(TARGET pugixml::pugixml PROPERTY INTERFACE_LINK_LIBRARIES pugixml::static)
endfunction()

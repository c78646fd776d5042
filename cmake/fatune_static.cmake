# For FATUNE_STATIC. It must be included before libraries are searched. The program then needs nothing but the C
# library, and is identical byte for byte wherever the sources and the build are.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -fstack-protector-strong -D_FORTIFY_SOURCE=2)
add_link_options(-static-libstdc++ -static-libgcc -s LINKER:--as-needed,-z,relro,-z,now)

# Debian has no static library of muParser, so it is built from Debian's copy of the source.
include(FetchContent)
FetchContent_Declare(muparser
  URL http://deb.debian.org/debian/pool/main/m/muparser/muparser_2.3.3.orig.tar.gz
      https://github.com/beltoforion/muparser/archive/refs/tags/v2.3.3-1.tar.gz
  URL_HASH SHA256=91d26d8274ae9cd9c776ee58250aeddc6b574f369eafd03b25045b858a2b8177
  DOWNLOAD_EXTRACT_TIMESTAMP OFF
  SOURCE_SUBDIR none)  # its own rules would install it
FetchContent_MakeAvailable(muparser)
add_library(muparser STATIC)
file(GLOB muparser_sources "${muparser_SOURCE_DIR}/src/*.cpp")
target_sources(muparser PRIVATE ${muparser_sources})
target_include_directories(muparser SYSTEM PUBLIC "${muparser_SOURCE_DIR}/include")
target_compile_definitions(muparser PUBLIC MUPARSER_STATIC)
set_target_properties(muparser PROPERTIES UNITY_BUILD OFF)
add_library(MuParser::MuParser ALIAS muparser)

# fatune_link_statically(): Debian has no static libraries of fmt and spdlog either, but their headers are complete. The
# linker leaves out the shared libraries that their targets name, because nothing in them is used. pugixml has both
# kinds.
function(fatune_link_statically)
  set_property(TARGET fmt::fmt APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
  set_property(TARGET spdlog::spdlog PROPERTY INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
  set_property(TARGET pugixml::pugixml PROPERTY INTERFACE_LINK_LIBRARIES pugixml::static)
endfunction()

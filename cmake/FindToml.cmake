# Finds toml++ as headers only: the package's own target links its library.
find_path(Toml_INCLUDE_DIR toml++/toml.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Toml REQUIRED_VARS Toml_INCLUDE_DIR)
mark_as_advanced(Toml_INCLUDE_DIR)

if(Toml_FOUND AND NOT TARGET Toml::Headers)
  add_library(Toml::Headers INTERFACE IMPORTED)
  target_include_directories(Toml::Headers INTERFACE "${Toml_INCLUDE_DIR}")
  target_compile_definitions(Toml::Headers INTERFACE TOML_HEADER_ONLY=1 TOML_ENABLE_FORMATTERS=0)
endif()

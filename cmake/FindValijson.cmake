# Finds Valijson, a header-only JSON Schema validator (Debian: libvalijson-dev).
find_path(Valijson_INCLUDE_DIR valijson/validator.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Valijson REQUIRED_VARS Valijson_INCLUDE_DIR)
if(Valijson_FOUND AND NOT TARGET Valijson::Valijson)
  add_library(Valijson::Valijson INTERFACE IMPORTED)
  set_target_properties(Valijson::Valijson PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Valijson_INCLUDE_DIR}")
endif()

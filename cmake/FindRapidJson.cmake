# Finds RapidJSON, a header-only JSON reader and writer (Debian: rapidjson-dev).
find_path(RapidJson_INCLUDE_DIR rapidjson/reader.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RapidJson REQUIRED_VARS RapidJson_INCLUDE_DIR)
if(RapidJson_FOUND AND NOT TARGET RapidJson::RapidJson)
  add_library(RapidJson::RapidJson INTERFACE IMPORTED)
  set_target_properties(RapidJson::RapidJson PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${RapidJson_INCLUDE_DIR}")
endif()

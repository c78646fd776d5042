# Finds the header of XGBoost's C API (Debian: libxgboost-dev). The library is opened when it is
# needed.
find_path(Xgboost_INCLUDE_DIR xgboost/c_api.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Xgboost REQUIRED_VARS Xgboost_INCLUDE_DIR)
if(Xgboost_FOUND AND NOT TARGET Xgboost::Headers)
  add_library(Xgboost::Headers INTERFACE IMPORTED)
  set_target_properties(Xgboost::Headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Xgboost_INCLUDE_DIR}")
endif()

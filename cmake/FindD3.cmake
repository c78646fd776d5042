# Finds the modules of D3 (https://d3js.org) that a report's page uses. Sets D3_FILES to their minified files, each
# after the files that it needs, and D3_LICENCES to the files with the copyright and the licence of each. Debian and
# Ubuntu have the modules in the package node-d3-brush and its dependencies. Elsewhere, D3_ROOT names a folder
# node_modules.
set(D3_FILES "")
set(D3_LICENCES "")
set(d3_required "")
foreach(module IN ITEMS dispatch color ease timer selection interpolate drag transition brush)
  find_file(D3_${module}_FILE d3-${module}.min.js
    HINTS "${D3_ROOT}" PATHS /usr/share/nodejs /usr/lib/node_modules /usr/local/lib/node_modules
    PATH_SUFFIXES d3-${module}/dist)
  find_file(D3_${module}_LICENCE NAMES copyright LICENSE
    HINTS "${D3_ROOT}" PATHS /usr/share/doc /usr/lib/node_modules /usr/local/lib/node_modules
    PATH_SUFFIXES node-d3-${module} d3-${module}
    NO_DEFAULT_PATH)
  list(APPEND D3_FILES "${D3_${module}_FILE}")
  list(APPEND D3_LICENCES "${D3_${module}_LICENCE}")
  list(APPEND d3_required D3_${module}_FILE D3_${module}_LICENCE)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(D3 REQUIRED_VARS ${d3_required}
  REASON_FAILURE_MESSAGE "run scripts/setup, or apt-get install node-d3-brush, or set D3_ROOT to a folder node_modules")
mark_as_advanced(${d3_required})

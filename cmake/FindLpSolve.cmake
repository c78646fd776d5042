# Finds lp_solve as in Debian's liblpsolve55-dev: a static library, which needs SuiteSparse's COLAMD. COLAMD is linked
# as a static library too, so that the program loads no additional libraries.
include(fatune_find_library)
find_library(LpSolve_COLAMD libcolamd.a REQUIRED)
find_library(LpSolve_SUITESPARSE libsuitesparseconfig.a REQUIRED)
fatune_find_library(LpSolve lpsolve/lp_lib.h lpsolve55_pic)
set_property(TARGET LpSolve::LpSolve PROPERTY INTERFACE_LINK_LIBRARIES
  "${LpSolve_COLAMD};${LpSolve_SUITESPARSE};${CMAKE_DL_LIBS};m")

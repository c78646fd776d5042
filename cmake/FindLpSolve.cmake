# lp_solve, as Debian's liblpsolve55-dev has it: a static library, which needs SuiteSparse's COLAMD. That is
# taken as a static library too, so that the program loads no more libraries than without it.
include(fatune_find_library)
find_library(LpSolve_COLAMD libcolamd.a REQUIRED)
find_library(LpSolve_SUITESPARSE libsuitesparseconfig.a REQUIRED)
fatune_find_library(LpSolve lpsolve/lp_lib.h lpsolve55_pic)
set_property(TARGET LpSolve::LpSolve PROPERTY INTERFACE_LINK_LIBRARIES
  "${LpSolve_COLAMD};${LpSolve_SUITESPARSE};${CMAKE_DL_LIBS};m")

include(fatune_find_library)
fatune_find_library(MuParser muParser.h muparser)

include(fatune_find_library)
fatune_find_library(LibCsv csv.h csv)

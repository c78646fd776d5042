include(fatune_find_library)
fatune_find_library(Nettle nettle/sha2.h nettle)

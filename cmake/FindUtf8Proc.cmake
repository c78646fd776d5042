include(fatune_find_library)
fatune_find_library(Utf8Proc utf8proc.h utf8proc)

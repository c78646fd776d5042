# Finds libelf. Its static library needs zlib.
include(fatune_find_library)
fatune_find_library(LibElf libelf.h elf)
if(FATUNE_STATIC)
  find_library(LibElf_ZLIB z REQUIRED)
  set_property(TARGET LibElf::LibElf PROPERTY INTERFACE_LINK_LIBRARIES "${LibElf_ZLIB}")
endif()

# What `cmake --install` installs in addition to the program: manual pages and completions, which the program generates
# after it has been built.
include(GNUInstallDirs)

if(TARGET fatune)
  set(share "${CMAKE_BINARY_DIR}/share")
  set(stamp "${share}/made")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${share}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${share}"
    COMMAND fatune man "${share}/man1"
    COMMAND fatune completion bash > "${share}/fatune"
    COMMAND fatune completion zsh > "${share}/_fatune"
    COMMAND fatune completion fish > "${share}/fatune.fish"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS fatune VERBATIM COMMENT "Making manual pages and completions")
  add_custom_target(fatune_share ALL DEPENDS "${stamp}")

  install(DIRECTORY "${share}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(FILES "${share}/fatune" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${share}/_fatune" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${share}/fatune.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

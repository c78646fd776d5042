# cmake -DSOURCE_DIR=... -DOUTPUT=... -P write_commit.cmake: writes the C++ file that contains the git commit of the
# sources. It writes only when the commit has changed, to avoid needless compilation.
set(commit "unknown")
find_program(GIT_PROGRAM git)
if(GIT_PROGRAM AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_PROGRAM}" -c safe.directory=* -C "${SOURCE_DIR}" describe --always --abbrev=12 --exclude=* --dirty=+dirty
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${described}")
  endif()
endif()
set(text "#include \"base/version.hpp\"\n\nstd::string_view fatune::build_commit() { return \"${commit}\"; }\n")
set(former "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" former)
endif()
if(NOT text STREQUAL former)
  file(WRITE "${OUTPUT}" "${text}")
endif()

#include "cli/sass_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace fatune::testing_cli {

std::string listing(const std::string& name) {
  return std::string(FATUNE_SOURCE_DIR "/tests/listings/") + name;
}

std::string elf_file(char machine) {
  std::string bytes(64, '\0');
  return bytes
      .replace(0, 4,
               "\x7f"
               "ELF")
      .replace(18, 1, 1, machine);
}

const nlohmann::json& row_of(const nlohmann::json& rows, const std::string& what) {
  for (const nlohmann::json& row : rows) {
    if (row["what"] == what) {
      return row;
    }
  }
  throw std::out_of_range(what);
}

void SassTest::use_tool(const char* variable, const std::string& script) {
  write(variable, "#!/bin/sh\n" + script);
  std::filesystem::permissions(path(variable), std::filesystem::perms::owner_all);
  process_.environment[variable] = path(variable);
}

void LiveSassTest::SetUp() {
  for (const char* name :
       {"FATUNE_NVDISASM", "FATUNE_CUOBJDUMP", "PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV"}) {
    if (const char* value = std::getenv(name)) {
      process_.environment[name] = value;
    }
  }
  write("empty.cubin", elf_file(kCudaMachine));
  const ProcessResult result = fatune({"sass", "--cubin", path("empty.cubin")});
  if (result.err.find("is not installed") != std::string::npos) {
    GTEST_SKIP() << "no nvdisasm";
  }
}

}  // namespace fatune::testing_cli

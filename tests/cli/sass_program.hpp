#pragma once

#include <string>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// The path of a recorded listing.
[[nodiscard]] std::string listing(const std::string& name);

/// The low bytes of EM_X86_64 and of EM_CUDA.
inline constexpr char kHostMachine = '\x3e';
inline constexpr char kCudaMachine = '\xbe';
/// The beginning of an ELF file for this machine.
[[nodiscard]] std::string elf_file(char machine);

/// The row of this class or opcode. Throws std::out_of_range if there is none.
[[nodiscard]] const nlohmann::json& row_of(const nlohmann::json& rows, const std::string& what);

class SassTest : public ProgramTest {
 protected:
  /// Installs a shell script in place of the program that this variable names.
  void use_tool(const char* variable, const std::string& script);
  void use_disassembler(const std::string& script) { use_tool("FATUNE_NVDISASM", script); }
};

/// Tests with NVIDIA's nvdisasm, found in the same way as by a user's fatune. Skipped if there is
/// none.
class LiveSassTest : public SassTest {
 protected:
  void SetUp() override;
};

}  // namespace fatune::testing_cli

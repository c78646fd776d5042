#pragma once

#include <string>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// The path of a recorded listing.
[[nodiscard]] std::string listing(const std::string& name);

/// The low byte of EM_X86_64 and of EM_CUDA.
inline constexpr char kHostMachine = '\x3e';
inline constexpr char kCudaMachine = '\xbe';
/// An ELF file for this machine, as far as its first bytes tell.
[[nodiscard]] std::string elf_file(char machine);

/// The row of that class or opcode; std::out_of_range without one.
[[nodiscard]] const nlohmann::json& row_of(const nlohmann::json& rows, const std::string& what);

class SassTest : public ProgramTest {
 protected:
  /// A shell script that stands for the program that this variable names.
  void use_tool(const char* variable, const std::string& script);
  void use_disassembler(const std::string& script) { use_tool("FATUNE_NVDISASM", script); }
};

/// With NVIDIA's nvdisasm, wherever it is; found as a user's fatune finds it. Skipped without.
class LiveSassTest : public SassTest {
 protected:
  void SetUp() override;
};

}  // namespace fatune::testing_cli

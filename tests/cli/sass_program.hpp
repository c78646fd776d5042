#pragma once

#include <string>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// The path of a recorded listing.
[[nodiscard]] std::string listing(const std::string& name);

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

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// One machine instruction as nvdisasm prints it.
struct Instruction {
  std::uint64_t address = 0;          ///< from the beginning of its section, in bytes
  std::vector<std::string> labels;    ///< that stand in front of it
  std::string guard;                  ///< "P0", "!P0", "!UPT"; empty: always executed
  std::string mnemonic;               ///< with modifiers: "HMMA.16816.F32"
  std::vector<std::string> operands;  ///< "R4.reuse", "[R165+0x4000]", "`(.L_x_0)"
  std::vector<std::string> targets;   ///< labels and functions that it names: ".L_x_0"
  std::string source_file;            ///< empty without line information
  std::int64_t source_line = 0;

  /// "HMMA" of "HMMA.16816.F32".
  [[nodiscard]] std::string_view opcode() const {
    return std::string_view(mnemonic).substr(0, mnemonic.find('.'));
  }
};

/// A kernel, or a device function that was not inlined.
struct SassFunction {
  std::string name;
  std::string section;           ///< ".text.<kernel>"; functions that it calls are in the same one
  std::optional<int> registers;  ///< per thread, where the listing says it
  /// In the order of addresses; without the padding at the end of a section.
  std::vector<Instruction> instructions;
};

struct Listing {
  std::string target;  ///< "sm_80"; empty where the listing does not say it
  std::vector<SassFunction> functions;
};

}  // namespace fatune

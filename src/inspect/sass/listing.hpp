#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_line.hpp"

namespace fatune {

/// One machine instruction as nvdisasm prints it.
struct Instruction {
  std::uint64_t address = 0;          ///< the distance from the beginning of its section, in bytes
  std::vector<std::string> labels;    ///< labels in front of the instruction
  std::string guard;                  ///< "P0", "!P0", "!UPT"; empty: always executed
  std::string mnemonic;               ///< includes its modifiers: "HMMA.16816.F32"
  std::vector<std::string> operands;  ///< "R4.reuse", "[R165+0x4000]", "`(.L_x_0)"
  std::vector<std::string> targets;   ///< labels and functions that it names: ".L_x_0"
  std::size_t place = 0;              ///< index into Listing::places
  std::int64_t ptx_line = 0;          ///< line of the PTX that it was made from; 0: not known

  /// "HMMA" for "HMMA.16816.F32".
  [[nodiscard]] std::string_view opcode() const {
    return std::string_view(mnemonic).substr(0, mnemonic.find('.'));
  }
};

/// A kernel, or a device function that was not inlined.
struct SassFunction {
  std::string name;
  std::string section;           ///< ".text.<kernel>"; functions that it calls are in the same one
  std::optional<int> registers;  ///< registers of each thread, if the listing says it
  /// Ordered by address; without the padding at the end of a section.
  std::vector<Instruction> instructions;
};

struct Listing {
  std::string target;  ///< "sm_80"; empty if the listing does not say it
  std::vector<SassFunction> functions;
  std::vector<SourceChain> places{{}};  ///< places in the source; the first one is unknown
};

/// Reads what `nvdisasm -c` prints, with or without -g or -gi (source lines), -gp (PTX lines) and
/// -hex (encodings). Throws Error(bad_file), naming `origin` and the line, for anything else: no
/// code, an instruction that is cut off, bytes that are not text, addresses that do not ascend.
[[nodiscard]] Listing parse_listing(std::string_view text, const std::string& origin);

}  // namespace fatune

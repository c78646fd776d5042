#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_line.hpp"

namespace fatune {

/// One PTX instruction, as far as its text tells. What it computes is not known here.
struct PtxStatement {
  std::int64_t line = 0;  ///< line of the text where it begins, from 1
  std::string text;       ///< one line, with blanks joined and without ';'
  std::string guard;      ///< "%p1" or "!%p1"; empty: it is always executed
  std::string opcode;     ///< includes its modifiers: "mma.sync.aligned.m16n8k16.row.col"
  std::vector<std::string> operands;
  std::vector<std::size_t> writes;  ///< indices into PtxFunction::registers
  std::vector<std::size_t> reads;   ///< the guard's predicate too
  std::size_t place = 0;            ///< index into PtxModule::places
  std::vector<std::string> labels;  ///< labels in front of the statement
  std::vector<std::string> names;   ///< operands without registers: a branch's label, ...
};

/// A kernel, or a device function that was not inlined.
struct PtxFunction {
  std::string name;
  std::vector<PtxStatement> statements;  ///< ordered by line
  std::vector<std::string> end_labels;   ///< after the last statement
  /// Names as written. A name that two scopes declare is listed twice.
  std::vector<std::string> registers;
  std::vector<std::string> register_types;  ///< each register's: "b32"
  std::string header;                       ///< ".visible .entry name(.param .u64 p)"
  std::vector<std::string> declarations;    ///< declarations of variables: ".shared .b8 tile[64]"
  /// Labels that an indexed branch may go to, by the name of their .branchtargets list.
  std::map<std::string, std::vector<std::string>, std::less<>> branch_targets;
};

struct PtxModule {
  std::vector<std::string> declarations;  ///< of variables outside of functions
  std::vector<PtxFunction> functions;
  std::vector<SourceChain> places{{}};  ///< places in the source; the first one is unknown
};

/// Reads the structure of PTX as NVRTC writes it: functions, instructions with their lines, the
/// registers that they name, and .loc. Instructions themselves are not checked. Throws
/// Error(bad_file), naming `origin` and the line, if there is no function, the PTX is cut off,
/// scopes do not close, or the input is not text.
[[nodiscard]] PtxModule parse_ptx(std::string_view text, const std::string& origin);

struct InlinedFunction {
  PtxFunction function;
  /// For each statement, the index of the statement of the original function that it is, or is part
  /// of.
  std::vector<std::size_t> statements;
};

/// Replaces calls in a function by the statements of the called functions, to any depth. A call
/// stays if it is recursive, is of a function that the module does not define, goes through a
/// pointer, or passes registers. Throws Error(bad_file) if the result would be too long.
[[nodiscard]] InlinedFunction inline_calls(const PtxModule& module, const PtxFunction& function);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// The tools of NVIDIA's Compute Sanitizer.
enum class SanitizerTool {
  memcheck,   ///< accesses outside allocations, misaligned ones
  racecheck,  ///< shared memory that threads use without a barrier between
  synccheck,  ///< barriers that not all threads reach
  initcheck,  ///< global memory that is read before it is written
};

[[nodiscard]] std::string_view sanitizer_tool_name(SanitizerTool tool);
/// "racecheck", "memcheck,initcheck", "all"; without duplicates, in the order given. Error(usage)
/// for anything else.
[[nodiscard]] std::vector<SanitizerTool> parse_sanitizer_tools(std::string_view text);

/// A finding of such a tool about a kernel.
struct SanitizerFinding {
  std::string kind;    ///< "invalid_access", "race", "barrier", "uninitialised", "other"
  std::string what;    ///< the tool's own words: "Invalid __global__ write of size 4 bytes"
  std::string kernel;  ///< function, as the tool writes it; empty: not said
  std::string place;   ///< "kernel+0xd0", with " in file.cu:12" where there are source lines
  std::vector<std::string> against;  ///< the other accesses of a race: "Read access at ..."
  std::string space;                 ///< "global", "shared", ...; empty: not said
  std::int64_t size_bytes = 0;       ///< of the access; 0: not said
  std::string thread;                ///< "(0,0,0)" of the first report; empty: not said
  std::string block;
  std::string detail;      ///< "Access to 0x... is out of bounds"; empty: not said
  std::int64_t count = 1;  ///< reports like this one; hazards of a race, all in all
  std::int64_t group = 0;  ///< from 1: findings that most likely have one cause; 0: of none
};

/// One line: what, where, by whom, how often.
[[nodiscard]] std::string describe(const SanitizerFinding& finding);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"

namespace fatune {

/// The tools of NVIDIA's Compute Sanitizer.
enum class SanitizerTool {
  memcheck,   ///< accesses that are outside allocations or misaligned
  racecheck,  ///< accesses of shared memory without a barrier between them
  synccheck,  ///< barriers that not all threads reach
  initcheck,  ///< global memory that is read before it is written
};

template <>
inline constexpr EnumNames<4> kEnumNames<SanitizerTool>{
    "sanitizer tool", {"memcheck", "racecheck", "synccheck", "initcheck"}};
/// Reads "racecheck", "memcheck,initcheck" or "all". The result has no duplicates and keeps the
/// order. Throws Error(usage) for any other text.
[[nodiscard]] std::vector<SanitizerTool> parse_sanitizer_tools(std::string_view text);

/// A finding of a sanitizer tool about a kernel.
struct SanitizerFinding {
  std::string kind;    ///< "invalid_access", "race", "barrier", "uninitialised", "other"
  std::string what;    ///< the tool's own words: "Invalid __global__ write of size 4 bytes"
  std::string kernel;  ///< function, as the tool writes it; empty: not reported
  std::string place;   ///< "kernel+0xd0", with " in file.cu:12" where there are source lines
  std::vector<std::string> against;  ///< the other accesses of a race: "Read access at ..."
  std::string space;                 ///< "global", "shared", ...; empty: not reported
  std::int64_t size_bytes = 0;       ///< the size of the access; 0: not reported
  std::string thread;                ///< "(0,0,0)" of the first report; empty: not reported
  std::string block;
  std::string detail;      ///< "Access to 0x... is out of bounds"; empty: not reported
  std::int64_t count = 1;  ///< number of reports like this one; for a race, of all its hazards
  std::int64_t group = 0;  ///< findings with one number most likely have one cause; 0: no group
};

/// Describes a finding in one line: what, where, by which thread, how often.
[[nodiscard]] std::string describe(const SanitizerFinding& finding);

}  // namespace fatune

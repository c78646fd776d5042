#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/case.hpp"

namespace fatune::conformance {

/// The number of threads whose results are kept for each case.
inline constexpr std::size_t kRecordedTuples = 256;

/// The results of a GPU.
struct Recording {
  struct Results {
    std::uint64_t operands_hash = 0;  ///< of what they were computed from
    std::vector<std::uint64_t> values;
  };
  std::string device;                      ///< "NVIDIA H200, driver for CUDA 13.0"
  std::map<std::string, Results> results;  ///< by the case's text
};

/// The file is: a line "fatune conformance 1", a line with the device; then, of each case that is
/// known, a line with its text in quotes, the operands' hash and the number of values' bytes, and
/// these bytes: values in recorded_bytes() each, least byte first, and a line's end.
void write_recording(const std::filesystem::path& file, const Recording& recording);
/// Throws std::runtime_error for a file that is none.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file);

}  // namespace fatune::conformance

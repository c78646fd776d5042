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

/// Recorded results of a GPU.
struct Recording {
  struct Results {
    std::uint64_t operands_hash = 0;  ///< hash of the operands
    std::vector<std::uint64_t> values;
  };
  std::string device;                      ///< "NVIDIA H200, driver for CUDA 13.0"
  std::map<std::string, Results> results;  ///< by the case's text
};

/// Writes a recording. The file contains a line "fatune conformance 1" and a line with the device.
/// For each known case, a line has its text in quotes, the operands' hash and the number of bytes
/// of its values. These bytes follow: each value takes recorded_bytes(), least significant byte
/// first. Then comes a line break.
void write_recording(const std::filesystem::path& file, const Recording& recording);
/// Throws std::runtime_error if the file is not a recording.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file);

}  // namespace fatune::conformance

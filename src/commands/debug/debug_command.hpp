#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/option_groups.hpp"
#include "attention/input_kind.hpp"
#include "core/exit_code.hpp"

namespace fatune {

/// Options of `debug`, which compares one configuration's intermediates with those of the algorithm
/// on the CPU.
struct DebugOptions {
  std::string config;  ///< short form or kernel name
  KernelOptions kernels;
  /// The length, in blocks of query rows or in positions. Neither is given: default_problems(), the
  /// whole one with 4 blocks.
  std::optional<std::int64_t> seq_blocks;
  std::optional<std::int64_t> seq_len;
  ProblemOptions problems;  ///< its batch and its heads are ignored
  InputKind init = InputKind::normal;
  std::uint64_t seed = 1;
  bool emulate = true;  ///< run the PTX on the CPU if there is no GPU
  TargetOptions target;
  CompileSettings compile;
  OutputOptions output;
  std::optional<std::filesystem::path> out_dir;
};

/// Finds the first step of the algorithm at which a configuration's kernel leaves the tolerance.
[[nodiscard]] ExitCode debug(const DebugOptions& options);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/launch.hpp"

// Small PTX kernels of one block, run on the emulator.
namespace fatune::emulate {

/// The text of a kernel `k(.param .u64 in, .param .u64 out)` around these statements. It declares
/// %p<20>, %h<20> (16 bits), %r<40>, %f<20>, %w<20> (64 bits) and %d<20> (f64), and first sets
/// %w0 = in, %w1 = out, %r0 = %tid.x and %w2 = out + 16 x %r0.
[[nodiscard]] std::string kernel_text(const std::string& statements);

struct Trial {
  std::uint32_t threads = 32;
  std::uint32_t blocks = 1;
  std::uint32_t cluster = 1;          ///< blocks
  std::uint32_t resident_blocks = 0;  ///< LaunchSetup::resident_blocks
  std::uint32_t dynamic_smem_bytes = 0;
  std::vector<std::uint8_t> input = std::vector<std::uint8_t>(4096, 0);
  std::size_t output_bytes = 16 * 1024;
  /// Parameters after in and out, from the next multiple of 64 bytes on.
  std::vector<std::uint8_t> more_parameters = {};
  Schedule schedule = {};
  std::uint64_t most_warp_instructions = 100'000;
  LaunchLimits limits = {};
  bool both_ends = false;  ///< Checks::both_ends
};

/// The state after a run.
struct Emulated {
  LaunchResult result;
  std::vector<std::uint8_t> output;
  std::vector<std::int64_t> lines;  ///< the line of each instruction in the text

  /// The text of each finding, as "race at line 31 by thread 3: writes shared memory + 0, ...".
  [[nodiscard]] std::vector<std::string> findings() const;
  /// The first 8 of the 16 bytes of output that belong to thread `thread`.
  [[nodiscard]] std::uint64_t stored(std::uint32_t thread = 0) const;
};

/// Runs kernel "k" of `text` as `trial` says.
[[nodiscard]] Emulated emulate(const std::string& text, const Trial& trial = {});

/// The address that the input will have.
[[nodiscard]] std::uint64_t input_address();

/// The schedules early, late, and random with five seeds.
[[nodiscard]] std::vector<Schedule> all_schedules();
[[nodiscard]] std::string name_of(const Schedule& schedule);

/// The number of the line that ends with "// here". Throws std::logic_error if there is none.
[[nodiscard]] std::int64_t marked_line(const std::string& text);

}  // namespace fatune::emulate

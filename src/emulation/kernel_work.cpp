#include "emulation/kernel_work.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "attention/visible_keys.hpp"
#include "core/is_among.hpp"

namespace fatune {
namespace {

/// The unit of an SM that an instruction occupies, in addition to its issue slot.
enum class Pipe { none, free, tensor, warpgroup, special_function, fp32, integer };

constexpr double kLanes = 32.0;
constexpr double kWarpsOfGroup = 4.0;
constexpr double kWavefrontBytes = 128.0;

bool is_floating(std::string_view opcode) {
  return opcode.find(".f32") != opcode.npos || opcode.find(".f16") != opcode.npos ||
         opcode.find(".bf16") != opcode.npos;
}

/// Source: CUDA C++ Programming Guide, "Arithmetic Instructions".
Pipe pipe_of(std::string_view opcode) {
  constexpr std::array<std::string_view, 9> kSpecial{"ex2", "lg2", "rcp",  "rsqrt", "sin",
                                                     "cos", "div", "tanh", "sqrt"};
  constexpr std::array<std::string_view, 4> kArithmetic{"fma", "mul", "add", "sub"};
  // These rename registers or convert known addresses, and leave no machine instruction.
  constexpr std::array<std::string_view, 2> kFree{"mov", "cvta"};
  constexpr std::array<std::string_view, 17> kOther{
      "ld",  "st",   "ldmatrix", "stmatrix", "cp",       "atom",  "red",    "prefetch", "bra",
      "bar", "exit", "ret",      "barrier",  "mbarrier", "fence", "membar", "nanosleep"};
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  if (name == "mma" || name == "wgmma") {
    return name == "mma" ? Pipe::tensor : Pipe::warpgroup;
  }
  if (is_among(name, kSpecial) && is_floating(opcode)) {
    return Pipe::special_function;
  }
  if (is_among(name, kArithmetic) && is_floating(opcode)) {
    return Pipe::fp32;
  }
  return is_among(name, kFree) ? Pipe::free : is_among(name, kOther) ? Pipe::none : Pipe::integer;
}

/// Returns the number after `letter` in "m16n8k16"; 0 if there is none.
double extent(std::string_view shape, char letter) {
  const std::size_t at = shape.find(letter);
  int value = 0;
  if (at != shape.npos) {
    std::from_chars(shape.data() + at + 1, shape.data() + shape.size(), value);
  }
  return value;
}

/// Returns the FLOP of the matrix product that an opcode names ("...m64n128k16..."); 0 for a fence
/// or a wait.
double product_flop(std::string_view opcode) {
  std::size_t at = opcode.find(".m");
  while (at != opcode.npos &&
         (at + 2 >= opcode.size() || opcode[at + 2] < '0' || opcode[at + 2] > '9')) {
    at = opcode.find(".m", at + 1);
  }
  if (at == opcode.npos) {
    return 0.0;
  }
  const std::string_view shape = opcode.substr(at + 1, opcode.find('.', at + 1) - at - 1);
  return 2.0 * extent(shape, 'm') * extent(shape, 'n') * extent(shape, 'k');
}

void add(std::string_view opcode, const emulate::InstructionCounts& counts, CountedWork& work) {
  const auto warps = static_cast<double>(counts.warps);
  const Pipe pipe = pipe_of(opcode);
  work.tensor_flop += pipe == Pipe::tensor ? warps * product_flop(opcode) : 0.0;
  work.warpgroup_flop +=
      pipe == Pipe::warpgroup ? warps / kWarpsOfGroup * product_flop(opcode) : 0.0;
  work.special_functions += pipe == Pipe::special_function ? warps * kLanes : 0.0;
  work.fp32_operations += pipe == Pipe::fp32 ? warps * kLanes : 0.0;
  work.integer_operations += pipe == Pipe::integer ? warps * kLanes : 0.0;
  work.warp_instructions += pipe == Pipe::free ? 0.0 : warps;
  work.smem_traffic_bytes += static_cast<double>(counts.shared_wavefronts) * kWavefrontBytes;
  work.global_sectors += static_cast<double>(counts.global_sectors);
}

template <typename Combine>
CountedWork combined(const CountedWork& a, const CountedWork& b, Combine combine) {
  return {combine(a.tensor_flop, b.tensor_flop),
          combine(a.warpgroup_flop, b.warpgroup_flop),
          combine(a.special_functions, b.special_functions),
          combine(a.fp32_operations, b.fp32_operations),
          combine(a.integer_operations, b.integer_operations),
          combine(a.warp_instructions, b.warp_instructions),
          combine(a.smem_traffic_bytes, b.smem_traffic_bytes),
          combine(a.global_sectors, b.global_sectors)};
}

std::int64_t volume(const std::array<std::int64_t, 3>& extents) {
  return extents[0] * extents[1] * extents[2];
}

/// Returns the number of blocks that a sample ran.
double blocks_of(const EmulatedLaunch& launch) {
  return static_cast<double>(
      volume(launch.on.only_head ? launch.blocks.extent : launch.geometry.grid));
}

/// Returns the average number of keys that a block's queries see, if `blocks` blocks share the
/// problem's heads.
double keys_per_block(const Problem& problem, double blocks) {
  const auto keys = static_cast<double>(problem.seq_len_kv);
  if (!problem.causal && problem.window == 0) {
    return keys;
  }
  const auto seq_len = static_cast<double>(problem.seq_len);
  const double rows = seq_len * static_cast<double>(problem.batch * problem.heads) / blocks;
  // The average number of keys of one query, and half a key more for each other query of the block.
  return std::min(keys, visible_pairs(problem) / seq_len + (rows - 1.0) / 2.0);
}

double keys_per_block(const EmulatedLaunch& launch) {
  return keys_per_block(compared_part(launch.on), blocks_of(launch));
}

CountedWork times(const CountedWork& work, double factor) {
  return combined(work, work, [factor](double a, double) { return a * factor; });
}

}  // namespace

CountedWork count_work(std::span<const emulate::InstructionCounts> counts,
                       const emulate::Program& program, const PtxFunction& function) {
  CountedWork work;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].warps > 0) {
      add(function.statements.at(program.statements.at(i)).opcode, counts[i], work);
    }
  }
  return work;
}

CountedWork scale_work(const CountedSample& shorter, const CountedSample* longer,
                       const Problem& problem, const LaunchGeometry& geometry) {
  const auto blocks = static_cast<double>(volume(geometry.grid));
  const CountedWork of_block = times(shorter.work, 1.0 / blocks_of(shorter.launch));
  if (longer == nullptr) {
    return times(of_block, blocks);
  }
  const CountedWork of_longer = times(longer->work, 1.0 / blocks_of(longer->launch));
  const double keys = keys_per_block(shorter.launch);
  const double steps =
      (keys_per_block(problem, blocks) - keys) / (keys_per_block(longer->launch) - keys);
  return combined(of_block, of_longer,
                  [&](double a, double b) { return blocks * (a + (b - a) * steps); });
}

}  // namespace fatune

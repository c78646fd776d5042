#include "proof/kernel_counts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/flop.hpp"

namespace fatune {
namespace {

void add(const emulate::InstructionCounts& from, EmulatedCounts& to) {
  to.warp_instructions += static_cast<std::int64_t>(from.warps);
  to.thread_instructions += static_cast<std::int64_t>(from.threads);
  to.shared_wavefronts += static_cast<std::int64_t>(from.shared_wavefronts);
  to.ideal_wavefronts += static_cast<std::int64_t>(from.ideal_wavefronts);
  to.global_sectors += static_cast<std::int64_t>(from.global_sectors);
  to.bytes += static_cast<std::int64_t>(from.bytes);
}

/// Sums counts by a text that instructions share: an opcode or a place.
class Parts {
 public:
  void add(const std::string& what, std::int64_t ptx_line,
           const emulate::InstructionCounts& counts) {
    EmulatedPart& part = parts_.try_emplace(what, EmulatedPart{what, ptx_line, {}}).first->second;
    fatune::add(counts, part.counts);
  }

  [[nodiscard]] std::vector<EmulatedPart> sorted() const {
    auto parts = mapped(parts_, [](const auto& part) { return part.second; });
    std::ranges::stable_sort(parts, std::ranges::greater(), [](const EmulatedPart& part) {
      return part.counts.thread_instructions;
    });
    return parts;
  }

 private:
  std::map<std::string, EmulatedPart> parts_;
};

std::string text_of(const SourceLine& line, const SourceLines& source) {
  const auto file = source.find(line.file);
  const auto index = static_cast<std::size_t>(line.line - 1);
  return file == source.end() || index >= file->second.size() ? std::string() : file->second[index];
}

/// Sums counts by source line. An instruction counts at its own line, and once at each other line
/// where it was inlined.
class Lines {
 public:
  void add(const SourceChain& place, const emulate::InstructionCounts& counts) {
    if (place.empty()) {
      return;
    }
    fatune::add(counts, lines_[place.front()].own);
    for (const SourceLine& at : std::set<SourceLine>(place.begin(), place.end())) {
      if (at != place.front()) {
        fatune::add(counts, lines_[at].inlined);
      }
    }
  }

  [[nodiscard]] std::vector<EmulatedLine> with_text(const SourceLines& source) const {
    return mapped(lines_, [&](const auto& line) {
      const auto& [at, counts] = line;
      return EmulatedLine{at, text_of(at, source), counts.own, counts.inlined};
    });
  }

 private:
  struct Both {
    EmulatedCounts own;
    EmulatedCounts inlined;
  };
  std::map<SourceLine, Both> lines_;
};

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

/// Returns the number of tiles that a sample computed.
std::optional<std::int64_t> tiles_of(const CountedSample& sample, const TileCount& tiles) {
  return sample.on.only_head ? sample.blocks : tiles(sample.on.problem);
}

/// Returns the average number of keys that a tile's queries see, if `tiles` tiles share the
/// problem's heads.
double keys_per_tile(const Problem& problem, double tiles) {
  const auto keys = static_cast<double>(problem.seq_len_kv);
  if (!problem.causal && problem.window == 0) {
    return keys;
  }
  const auto seq_len = static_cast<double>(problem.seq_len);
  const double rows = seq_len * static_cast<double>(problem.batch * problem.heads) / tiles;
  // The average number of keys of one query, and half a key more for each other query of the tile.
  const double queries = seq_len * static_cast<double>(problem.batch);
  return std::min(keys, visible_pairs(problem) / queries + (rows - 1.0) / 2.0);
}

CountedWork times(const CountedWork& work, double factor) {
  return combined(work, work, [factor](double a, double) { return a * factor; });
}

/// The work of an average tile, and the keys that it sees.
struct Unit {
  CountedWork work;
  double keys = 0.0;
};

Unit unit_of(const CountedSample& sample, std::int64_t tiles) {
  const auto count = static_cast<double>(tiles);
  return {times(sample.work, 1.0 / count), keys_per_tile(compared_part(sample.on), count)};
}

/// Returns `work`, or nothing if an amount is negative or no finite number.
std::optional<CountedWork> possible(const CountedWork& work) {
  bool all = true;
  combined(work, work, [&](double a, double) {
    all = all && std::isfinite(a) && a >= 0.0;
    return a;
  });
  return all ? std::optional(work) : std::nullopt;
}

}  // namespace

EmulatedProfile make_emulated_profile(std::span<const emulate::InstructionCounts> counts,
                                      const emulate::Program& program, const PtxModule& module,
                                      const PtxFunction& function, const SourceLines& source) {
  EmulatedProfile profile;
  Parts opcodes;
  Parts lines;
  Lines by_line;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].warps == 0) {
      continue;
    }
    const PtxStatement& statement = function.statements.at(program.statements.at(i));
    const SourceChain& place = module.places.at(statement.place);
    add(counts[i], profile.all);
    opcodes.add(statement.opcode, statement.line, counts[i]);
    lines.add(place.empty() ? fmt::format("PTX line {}", statement.line) : chain_text(place),
              statement.line, counts[i]);
    by_line.add(place, counts[i]);
  }
  profile.opcodes = opcodes.sorted();
  profile.lines = lines.sorted();
  profile.source = by_line.with_text(source);
  return profile;
}

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

CountedSample counted_sample(const CountedWork& work, const EmulatedLaunch& launch) {
  const auto& extent = launch.blocks.extent;
  return {work, launch.on, extent[0] * extent[1] * extent[2]};
}

std::optional<CountedWork> scale_work(const CountedSample& shorter, const CountedSample* longer,
                                      const Problem& problem, const TileCount& tiles) {
  const auto all = tiles(problem);
  const auto of_shorter = tiles_of(shorter, tiles);
  const auto of_longer = longer == nullptr ? of_shorter : tiles_of(*longer, tiles);
  if (!all || !of_shorter || !of_longer) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(*all);
  const Unit one = unit_of(shorter, *of_shorter);
  if (longer == nullptr) {
    return times(one.work, count);
  }
  const Unit other = unit_of(*longer, *of_longer);
  const double steps = (keys_per_tile(problem, count) - one.keys) / (other.keys - one.keys);
  return possible(combined(one.work, other.work,
                           [&](double a, double b) { return count * (a + (b - a) * steps); }));
}

}  // namespace fatune

#include "emulation/emulated_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

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
    std::vector<EmulatedPart> parts;
    for (const auto& [what, part] : parts_) {
      parts.push_back(part);
    }
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
    std::vector<EmulatedLine> lines;
    for (const auto& [at, counts] : lines_) {
      lines.push_back({at, text_of(at, source), counts.own, counts.inlined});
    }
    return lines;
  }

 private:
  struct Both {
    EmulatedCounts own;
    EmulatedCounts inlined;
  };
  std::map<SourceLine, Both> lines_;
};

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

}  // namespace fatune

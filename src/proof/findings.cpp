#include "proof/findings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

namespace fatune {
namespace {

EmulatedAccess located_access(const EmulatedKernel& kernel, const emulate::OtherAccess& other) {
  const PtxStatement& statement = kernel.statement(other.instruction);
  return {emulate::name_of(other.kind),
          statement.line,
          statement.text,
          kernel.module.places.at(statement.place),
          other.block,
          other.thread};
}

constexpr const char* kRaceCheck = "race";

/// Returns the two lines at which the call chains of two accesses diverge, from the outermost line
/// inwards. If one chain is the outer part of the other, both are the innermost line of the shorter
/// one. Returns nothing if a chain is not known.
std::optional<UnorderedLines> parting(const EmulatedFinding& finding) {
  if (!finding.other || finding.source.empty() || finding.other->source.empty()) {
    return std::nullopt;
  }
  const SourceChain& own = finding.source;
  const SourceChain& other = finding.other->source;
  const std::size_t shorter = std::min(own.size(), other.size());
  std::size_t same = 0;
  while (same + 1 < shorter && own[own.size() - 1 - same] == other[other.size() - 1 - same]) {
    ++same;
  }
  const auto lines = std::minmax(own[own.size() - 1 - same], other[other.size() - 1 - same]);
  return UnorderedLines{lines.first, lines.second};
}

/// A place in the source, or in the PTX if the source place is not known.
using Place = std::pair<SourceChain, std::int64_t>;

Place place_of(const SourceChain& source, std::int64_t ptx_line) {
  return {source, source.empty() ? ptx_line : 0};
}

/// Findings with the same cause are in one group.
struct Cause {
  std::string what;  ///< the check of a race (a missing barrier mixes kinds); else the kind
  std::optional<UnorderedLines> between;
  Place place;  ///< only without `between`

  auto operator<=>(const Cause&) const = default;
};

Cause cause_of(const EmulatedFinding& finding) {
  Cause cause;
  cause.what = finding.check == kRaceCheck ? finding.check : finding.kind;
  cause.between = parting(finding);
  if (!cause.between) {
    cause.place = place_of(finding.source, finding.ptx_line);
  }
  return cause;
}

/// The causes of races, by either of the two accesses.
class RaceCauses {
 public:
  explicit RaceCauses(const std::vector<EmulatedFinding>& findings) {
    for (const EmulatedFinding& finding : findings) {
      if (finding.check == kRaceCheck) {
        by_instruction_.try_emplace(finding.ptx_line, cause_of(finding));
      }
      if (finding.check == kRaceCheck && finding.other) {
        const EmulatedAccess& other = *finding.other;
        by_other_.try_emplace(place_of(other.source, other.ptx_line), cause_of(finding));
      }
    }
  }

  /// Returns the cause of the race that most likely led to a finding, or else the finding's own.
  [[nodiscard]] Cause of(const EmulatedFinding& finding) const {
    if (finding.kind == "uninitialised") {
      return in(by_instruction_, finding.ptx_line).value_or(cause_of(finding));
    }
    if (finding.kind == "pending_at_exit") {
      return in(by_other_, place_of(finding.source, finding.ptx_line)).value_or(cause_of(finding));
    }
    return cause_of(finding);
  }

 private:
  template <typename Key>
  static std::optional<Cause> in(const std::map<Key, Cause>& causes, const Key& key) {
    const Cause* const found = value_at(causes, key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  std::map<std::int64_t, Cause> by_instruction_;  ///< PTX line of the later access
  std::map<Place, Cause> by_other_;
};

/// Returns "sK" for "sK stage 1 [row 1, col 8]", and "shared memory" for "shared memory + 128".
std::string tensor_of(const std::string& memory) {
  std::size_t end = memory.size();
  for (const char* mark : {" stage ", " [", " + "}) {
    end = std::min(end, memory.find(mark));
  }
  return memory.substr(0, end);
}

void add_once(const std::string& word, std::vector<std::string>& words) {
  if (!word.empty() && !is_among(word, words)) {
    words.push_back(word);
  }
}

}  // namespace

EmulatedKernel read_kernel(const Artifact& artifact, const SourceBundle& sources,
                           const std::string& name, const KernelArguments& arguments) {
  EmulatedKernel kernel;
  kernel.module = parse_ptx(artifact.ptx, name);
  kernel.source = lines_of_files(sources);
  use_include_names(kernel.source, kernel.module.places);
  kernel.program = emulate::decode_program(kernel.module, artifact.lowered_name, name);
  kernel.function = find_in(kernel.module.functions, artifact.lowered_name, &PtxFunction::name);
  const auto bytes = static_cast<std::size_t>(argument_offsets(arguments.list).back());
  if (kernel.program.parameter_bytes != bytes) {
    throw Error(ExitCode::bad_file,
                fmt::format("the kernel takes {} bytes of arguments, but {} has {}",
                            kernel.program.parameter_bytes,
                            arguments.standard ? "attention_forward" : "the family", bytes),
                name);
  }
  return kernel;
}

EmulatedFinding located(const EmulatedKernel& kernel, const emulate::Finding& finding) {
  const PtxStatement& statement = kernel.statement(finding.instruction);
  EmulatedFinding located;
  located.check = emulate::check_of(finding.kind);
  located.kind = emulate::name_of(finding.kind);
  located.ptx_line = statement.line;
  located.ptx = statement.text;
  located.source = kernel.module.places.at(statement.place);
  located.block = finding.block;
  located.thread = finding.thread;
  located.text = finding.text;
  located.count = static_cast<std::int64_t>(finding.count);
  located.memory = finding.memory;
  located.access = finding.access ? emulate::name_of(*finding.access) : "";
  if (finding.other) {
    located.other = located_access(kernel, *finding.other);
  }
  return located;
}

std::vector<FindingGroup> group_findings(std::vector<EmulatedFinding>& findings) {
  const RaceCauses races(findings);
  std::map<Cause, std::size_t> known;
  std::vector<FindingGroup> groups;
  for (EmulatedFinding& finding : findings) {
    const Cause cause = races.of(finding);
    const auto [at, is_new] = known.try_emplace(cause, groups.size());
    if (is_new) {
      FindingGroup& group = groups.emplace_back();
      group.number = static_cast<std::int64_t>(groups.size());
      group.between = cause.between;
      group.source = finding.source;
    }
    FindingGroup& group = groups[at->second];
    finding.group = group.number;
    ++group.findings;
    add_once(finding.kind, group.kinds);
    add_once(tensor_of(finding.memory), group.tensors);
  }
  return groups;
}

std::string findings_summary(const std::vector<EmulatedFinding>& findings,
                             const std::vector<FindingGroup>& groups) {
  const EmulatedFinding& first = findings.front();
  std::string text = title(first);
  if (first.ptx_line != 0) {
    text += "; at " + place_text(first.source, first.ptx_line);
  }
  if (first.other) {
    text += "; the other access at " + place_text(first.other->source, first.other->ptx_line);
  }
  const std::size_t more = findings.size() - 1;
  return more == 0 ? text
                   : text + fmt::format("; and {} more, in {} group{}", more, groups.size(),
                                        groups.size() == 1 ? "" : "s");
}

}  // namespace fatune

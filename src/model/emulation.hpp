#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_line.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/measure_policy.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"

// Results of running a kernel's PTX on the CPU (docs/emulate.md).
namespace fatune {

/// The checks that findings belong to.
inline constexpr std::array<std::string_view, 8> kEmulationChecks{
    "mem", "init", "race", "sync", "deadlock", "trap", "schedules", "launches"};

/// Parses "race,mem" or "all". Returns the checks without duplicates, in the order of
/// kEmulationChecks. Error(usage) for anything else.
[[nodiscard]] std::vector<std::string> parse_emulation_checks(std::string_view text);
[[nodiscard]] std::vector<std::string> all_emulation_checks();

/// An access to memory by one thread.
struct EmulatedAccess {
  std::string access;  ///< "read", "write", "asynchronous read", "asynchronous write"
  std::int64_t ptx_line = 0;
  std::string ptx;
  SourceChain source;       ///< empty: not known
  std::int64_t block = 0;   ///< linear index
  std::int64_t thread = 0;  ///< linear index in its block
};

/// One mistake at one instruction, over all runs of a configuration.
struct EmulatedFinding {
  static constexpr std::int64_t kNobody = -1;

  std::string check;          ///< one of kEmulationChecks
  std::string kind;           ///< "in_flight"
  std::int64_t ptx_line = 0;  ///< 0: no instruction
  std::string ptx;
  SourceChain source;       ///< empty: not known
  std::int64_t block = 0;   ///< linear index at the first occurrence; kNobody: none
  std::int64_t thread = 0;  ///< linear index in its block, or kNobody
  std::string schedule;     ///< the schedule of the first occurrence: "late", "random 2"
  std::string input;
  std::string text;
  std::int64_t count = 0;
  std::string memory = {};  ///< "sK [row 1, col 8]"; empty: no memory
  std::string access = {};  ///< kind of access to it, as in EmulatedAccess
  /// The other access of a race. It came earlier in the run, and nothing orders the two.
  std::optional<EmulatedAccess> other = std::nullopt;
  std::int64_t group = 0;  ///< FindingGroup::number
};

/// The check, the kind if it is another word, and the text: "race: reads ...", "sync:
/// pending_at_exit: the thread ends ...".
[[nodiscard]] std::string title(const EmulatedFinding& finding);

/// The two lines at which the call chains of two accesses diverge. A barrier or a wait is missing
/// between them. They are in the order of the source, and may be equal.
struct UnorderedLines {
  SourceLine first;
  SourceLine second;

  auto operator<=>(const UnorderedLines&) const = default;
};

/// Findings that most likely have one cause.
struct FindingGroup {
  std::int64_t number = 1;  ///< counts from 1 in order of discovery
  std::int64_t findings = 0;
  std::vector<std::string> kinds;
  std::vector<std::string> tensors;       ///< or other memory: "sK", "shared memory"
  std::optional<UnorderedLines> between;  ///< the lines that race, if it is a race
  SourceChain source;                     ///< the source of the first finding
};

/// Counts of instructions and their effects in one run: the first schedule on the first input.
struct EmulatedCounts {
  std::int64_t warp_instructions = 0;
  std::int64_t thread_instructions = 0;
  std::int64_t shared_wavefronts = 0;
  std::int64_t ideal_wavefronts = 0;  ///< wavefronts if there were no bank conflicts
  std::int64_t global_sectors = 0;    ///< sectors of 32 bytes
  std::int64_t bytes = 0;             ///< requested, in all memory
};

/// The work that instructions give to the units of an SM, as far as PTX shows it. Instructions that
/// only rename registers (mov) are not counted.
struct CountedWork {
  double tensor_flop = 0.0;         ///< FLOP of mma
  double warpgroup_flop = 0.0;      ///< FLOP of wgmma
  double special_functions = 0.0;   ///< ex2, rcp, ...; per thread, like the next two
  double fp32_operations = 0.0;     ///< 16-bit ones too
  double integer_operations = 0.0;  ///< including comparisons, conversions and shuffles
  double warp_instructions = 0.0;
  double smem_traffic_bytes = 0.0;  ///< 128 for each wavefront, bank conflicts included
  double global_sectors = 0.0;      ///< sectors of 32 bytes
};

/// The counts of instructions that share an opcode or a source line.
struct EmulatedPart {
  std::string what;  ///< "ldmatrix.sync.aligned...", "softmax.cuh:40 < flash_forward.cu:123"
  std::int64_t ptx_line = 0;  ///< line of the first instruction
  EmulatedCounts counts;
};

/// A line of the source, with the counts of its instructions.
struct EmulatedLine {
  SourceLine at;
  std::string text;        ///< the line's text; empty: the file is not known
  EmulatedCounts own;      ///< counts of instructions written there
  EmulatedCounts inlined;  ///< counts of functions that were inlined there
};

struct EmulatedProfile {
  EmulatedCounts all;
  std::vector<EmulatedPart> opcodes;  ///< ordered by thread instructions, descending
  std::vector<EmulatedPart> lines;    ///< ordered by thread instructions, descending
  std::vector<EmulatedLine> source;   ///< ordered by file, then line
};

struct EmulatedConfig {
  std::string config;  ///< short form
  Problem problem;
  OutcomeKind outcome = OutcomeKind::stopped;
  std::int64_t runs = 0;            ///< schedules times inputs
  std::optional<ErrorStats> stats;  ///< errors of the run closest to its limit, or furthest beyond
  std::vector<ErrorStats> inputs;   ///< likewise for each input: of O, then of each other output
  std::vector<RowMismatches> rows;  ///< mismatches of O for each input; empty: not requested
  std::vector<EmulatedFinding> findings;
  std::vector<FindingGroup> groups;        ///< groups of `findings`, ordered by number
  std::optional<EmulatedProfile> profile;  ///< absent: not requested
  std::optional<CountedWork> work;         ///< the profiled run's work; absent: not requested
  std::string detail;                      ///< what is wrong; empty: nothing
  std::string printed;  ///< the kernel's printf output in the first run; not part of a report
};

/// The fastest configuration of one problem of a run.
struct RunBest {
  Problem problem;
  std::string short_form;
  double time_us = 0.0;
};

/// One row of the list of stored runs.
struct RunSummary {
  std::int64_t id = 0;
  std::string started_at;  ///< ISO 8601, UTC
  std::string device;
  std::string command_line;
  bool complete = false;
  std::string shard{};   ///< shard_text() of a part of a sweep; empty: whole
  bool measured = true;  ///< false: an estimate
  std::int64_t problems = 0;
  std::int64_t outcomes = 0;  ///< finished configurations, over all problems
  std::int64_t reused = 0;    ///< outcomes that were taken from earlier runs
  /// The best of the problem with the most literature_flop per second. Absent for estimates.
  std::optional<RunBest> best{};
};

/// One replay of a search with one seed (docs/search.md).
struct SearchReplay {
  std::optional<std::size_t> tried;  ///< tries until one was close to the best; absent: none was
  /// How far the best of the first SearchTrial::part tries was behind the best of all.
  std::optional<double> behind_percent;
  std::optional<double> ended_after;  ///< tries until it ended; absent: the replay stopped before
  std::optional<double> ended_behind_percent;  ///< how far the best of these was behind
};

/// A search replayed on the recorded space of a problem.
struct SearchTrial {
  Problem problem;
  SearchKind search = SearchKind::automatic;
  std::size_t configs = 0;            ///< recorded ones that can run
  std::size_t part = 0;               ///< tries after which SearchReplay::behind_percent is taken
  std::vector<SearchReplay> replays;  ///< one for each seed
};

/// The greatest distance that counts as close to the best, and the part of a space after which
/// searches are compared.
inline constexpr double kCloseToBest = 0.01;
inline constexpr double kPartOfSpace = 0.05;

/// One variant of a kernel on one problem.
struct CaseResult {
  std::string variant;
  Problem problem;
  std::size_t candidates = 0;     ///< configurations that were tried
  std::optional<Result> best;     ///< absent: none has a time
  std::string detail;             ///< why it has no time; empty: it has one
  std::vector<NamedValue> shown;  ///< requested parameters and quantities of the best

  // Filled by rank/case_comparison.hpp.
  std::optional<double> speed_up;  ///< over the first variant on the same problem
  std::optional<double> scaling;   ///< FLOP/s over those of the same variant on its first problem
};

/// The results of `fatune cases`.
struct CasesReport {
  std::string name;  ///< key or file of the cases
  std::string summary;
  std::string family;
  std::string space;
  bool measured = false;  ///< false: every time is an estimate
  bool complete = true;
  DeviceLimits device;
  Toolchain toolchain;
  std::vector<CaseResult> results;  ///< ordered by problem, then by variant
};

}  // namespace fatune

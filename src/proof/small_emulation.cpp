#include "proof/small_emulation.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "gpu/compiler.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

// More than one, so that the row stride differs from the length of a row.
constexpr std::int64_t kFewHeads = 2;

/// Returns the problem with at most `heads` query heads, in groups of the same size if possible.
Problem with_heads(const Problem& problem, std::int64_t heads) {
  const std::int64_t group = std::min(group_size(problem), heads);
  Problem fewer = problem;
  fewer.heads = heads / group * group;
  fewer.kv_heads = fewer.heads / group;
  return fewer;
}

/// Makes launches of one configuration on `small`, and compares their code with that of a request.
class SmallLaunches {
 public:
  SmallLaunches(const SmallCase& of, const CompileRequest& like, Problem small)
      : of_(of), key_(artifact_key(like)), small_(std::move(small)) {}

  [[nodiscard]] std::vector<SmallLaunch> make() const {
    std::vector<SmallLaunch> launches;
    if (auto one = one_head()) {
      launches.push_back(*std::move(one));
    }
    const Problem few = with_heads(small_, std::min(small_.heads, kFewHeads));
    if (auto all = all_blocks(few)) {
      launches.push_back(*std::move(all));
    }
    return launches;
  }

  [[nodiscard]] std::optional<SmallLaunch> one_head() const {
    if (small_.heads == 1 || small_.batch > 1 || is_packed(small_) || !possible(small_)) {
      return std::nullopt;
    }
    SmallLaunch small = launch_of(small_);
    const auto blocks = blocks_of_last_head(small.launch.geometry);
    if (!small.same_code || !blocks) {
      return std::nullopt;
    }
    small.launch.on.only_head = small_.heads - 1;
    small.launch.blocks = *blocks;
    return small;
  }

  [[nodiscard]] std::optional<SmallLaunch> all_blocks(const Problem& problem) const {
    return possible(problem) ? std::optional(launch_of(problem)) : std::nullopt;
  }

 private:
  [[nodiscard]] bool possible(const Problem& problem) const {
    return !check_valid(of_.family, of_.config, &problem, &of_.limits) &&
           !check_limits(of_.on(problem));
  }

  [[nodiscard]] SmallLaunch launch_of(const Problem& problem) const {
    SmallLaunch small;
    small.launch = planned_launch(of_.on(problem));
    small.request = compile_request(of_.on(problem));
    small.same_code = artifact_key(small.request) == key_;
    return small;
  }

  /// Returns the last part of the grid, if its length along one axis is proportional to the number
  /// of heads, and nothing else in it depends on them. Running these blocks shows whether they are
  /// those of the last head.
  [[nodiscard]] std::optional<BlockBox> blocks_of_last_head(const LaunchGeometry& all) const {
    const auto of_one = grid_of_one_head();
    if (!of_one) {
      return std::nullopt;
    }
    BlockBox box;
    box.extent = *of_one;
    int axes = 0;
    for (std::size_t axis = 0; axis < box.extent.size(); ++axis) {
      if (all.grid[axis] == box.extent[axis]) {
        continue;
      }
      if (all.grid[axis] != small_.heads * box.extent[axis]) {
        return std::nullopt;
      }
      box.first[axis] = all.grid[axis] - box.extent[axis];
      ++axes;
    }
    return axes == 1 ? std::optional(box) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::array<std::int64_t, 3>> grid_of_one_head() const {
    const Problem one = with_heads(small_, 1);
    try {
      return launch_geometry(of_.on(one)).grid;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  const SmallCase& of_;
  std::string key_;
  Problem small_;
};

/// Returns a launch with more keys and the same code and raggedness, which shows how the work
/// grows. Returns nothing if the code would differ.
std::optional<EmulatedLaunch> longer_launch(const SmallCase& of, const SmallLaunch& small) {
  Problem longer = small.launch.on.problem;
  longer.seq_len += kShortLength;
  longer.seq_len_kv += kShortLength;
  const SmallLaunches launches(of, small.request, longer);
  const auto found = small.launch.on.only_head ? launches.one_head() : launches.all_blocks(longer);
  return found && found->same_code ? std::optional(found->launch) : std::nullopt;
}

class Emulator {
 public:
  Emulator(const SmallCase& of, const EmulationSettings& settings, EmulatedInputs& inputs)
      : of_(of), settings_(settings), inputs_(inputs), config_(short_form(of.family, of.config)) {}

  [[nodiscard]] SmallEmulation run(const Artifact* artifact) {
    for (const SmallLaunch& small : small_launches(of_)) {
      if (auto emulated = run(small, small.same_code ? artifact : nullptr)) {
        return *std::move(emulated);
      }
    }
    return {without_run(of_.problem, OutcomeKind::not_covered, "no small problem can represent it"),
            {of_.problem, {}}};
  }

 private:
  [[nodiscard]] std::optional<SmallEmulation> run(const SmallLaunch& small,
                                                  const Artifact* artifact) {
    if (artifact != nullptr) {
      auto emulated = emulate(*artifact, small);
      if (!emulated || emulated->row.outcome != OutcomeKind::flagged) {
        return emulated;
      }
    }
    const CompileResult compiled = compile_to_ptx(with_line_info(small.request), of_.cache);
    if (const auto failed = failure_of(compiled)) {
      return SmallEmulation{
          without_run(small.launch.on.problem, outcome_kind(*failed),
                      "it does not compile for the small problem: " + outcome_summary(*failed)),
          small.launch.on};
    }
    return emulate(std::get<Artifact>(compiled), small);
  }

  [[nodiscard]] std::optional<SmallEmulation> emulate(const Artifact& artifact,
                                                      const SmallLaunch& small) {
    auto row = emulate_kernel(case_of(artifact, small, small.launch), settings_, inputs_);
    if (!row) {
      return std::nullopt;
    }
    SmallEmulation emulated{*std::move(row), small.launch.on};
    if (emulated.row.work && emulated.row.outcome == OutcomeKind::right) {
      emulated.work = samples(artifact, small, *emulated.row.work);
    }
    return emulated;
  }

  [[nodiscard]] EmulationCase case_of(const Artifact& artifact, const SmallLaunch& small,
                                      const EmulatedLaunch& launch) const {
    return {artifact, *small.request.sources, config_, launch};
  }

  /// Returns nothing if the problem is longer and the work of a longer launch is not known, or if
  /// sequences differ, because work grows with the lengths of all of them.
  [[nodiscard]] std::optional<CountedSamples> samples(const Artifact& artifact,
                                                      const SmallLaunch& small,
                                                      const CountedWork& work) {
    if (!of_.problem.seq_lens_kv.empty() || is_packed(of_.problem)) {
      return std::nullopt;
    }
    CountedSamples samples{counted_sample(work, small.launch), std::nullopt};
    if (of_.problem.seq_len == small.launch.on.problem.seq_len &&
        of_.problem.seq_len_kv == small.launch.on.problem.seq_len_kv) {
      return samples;
    }
    const auto longer = longer_launch(of_, small);
    const auto counted =
        longer ? count_kernel(case_of(artifact, small, *longer), settings_.stopped, inputs_)
               : std::nullopt;
    if (!counted) {
      return std::nullopt;
    }
    samples.longer = counted_sample(*counted, *longer);
    return samples;
  }

  [[nodiscard]] EmulatedConfig without_run(const Problem& problem, OutcomeKind outcome,
                                           std::string why) const {
    EmulatedConfig row;
    row.config = config_;
    row.problem = problem;
    row.outcome = outcome;
    row.detail = std::move(why);
    return row;
  }

  const SmallCase& of_;
  const EmulationSettings& settings_;
  EmulatedInputs& inputs_;
  std::string config_;
};

/// Outcomes on the narrow problem that override the outcome on the small problem.
constexpr std::array kFaults{OutcomeKind::wrong_result, OutcomeKind::flagged, OutcomeKind::stopped};

}  // namespace

std::vector<SmallLaunch> small_launches(const SmallCase& of) {
  return SmallLaunches(of, compile_request(of), small_problem(of.problem)).make();
}

std::vector<NamedSchedule> small_schedules(std::uint64_t seed) {
  return {{"late", {emulate::Timing::late, seed}}, random_schedule(seed)};
}

SmallEmulation emulate_small(const SmallCase& of, const Artifact* artifact,
                             const EmulationSettings& settings, EmulatedInputs& inputs) {
  SmallEmulation emulated = Emulator(of, settings, inputs).run(artifact);
  const std::optional<Problem> narrow = narrow_problem(of.problem);
  if (!narrow || emulated.row.outcome != OutcomeKind::right) {
    return emulated;
  }
  EmulationSettings uncounted = settings;
  uncounted.count_work = false;  // the work belongs to another window
  SmallEmulation second = Emulator({of.on(*narrow), of.cache}, uncounted, inputs).run(nullptr);
  if (second.row.outcome == OutcomeKind::right) {
    emulated.narrow_window = narrow->window;
  }
  const bool tells = std::ranges::count(kFaults, second.row.outcome) > 0;
  return tells ? second : emulated;
}

Verification verification_of(const SmallEmulation& emulated, const EmulationSettings& settings,
                             std::uint64_t seed) {
  const std::string narrow = emulated.narrow_window > 0
                                 ? fmt::format(", and with a window of {}", emulated.narrow_window)
                                 : std::string();
  return {fmt::format("emulated on {}{}; schedules {}", describe(emulated.on), narrow,
                      fmt::join(mapped(settings.schedules, &NamedSchedule::name), ", ")),
          seed, emulated.row.inputs};
}

}  // namespace fatune

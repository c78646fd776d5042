#include "emulation/small_emulation.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/compiler.hpp"
#include "plan/config_text.hpp"

namespace fatune {
namespace {

class Emulator {
 public:
  Emulator(const SmallCase& of, const EmulationSettings& settings, EmulatedInputs& inputs)
      : of_(of), settings_(settings), inputs_(inputs), config_(short_form(of.family, of.config)) {}

  [[nodiscard]] SmallEmulation run(const Artifact* artifact) {
    for (const SmallLaunch& small :
         small_launches(of_.family, of_.config, of_.problem, of_.limits)) {
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

  /// Returns nothing if the problem is longer and the work of a longer launch is not known.
  [[nodiscard]] std::optional<CountedSamples> samples(const Artifact& artifact,
                                                      const SmallLaunch& small,
                                                      const CountedWork& work) {
    CountedSamples samples{counted_sample(work, small.launch), std::nullopt};
    if (of_.problem.seq_len == small.launch.on.problem.seq_len &&
        of_.problem.seq_len_kv == small.launch.on.problem.seq_len_kv) {
      return samples;
    }
    const auto longer = longer_launch(of_.family, of_.config, of_.problem, of_.limits, small);
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

/// Emulates on the narrow problem. Work is not counted, since it belongs to another window.
SmallEmulation emulate_narrow(const SmallCase& of, const Problem& narrow,
                              EmulationSettings settings, EmulatedInputs& inputs) {
  settings.count_work = false;
  const SmallCase small{of.family, of.config, narrow, of.limits, of.cache};
  return Emulator(small, settings, inputs).run(nullptr);
}

}  // namespace

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
  SmallEmulation second = emulate_narrow(of, *narrow, settings, inputs);
  if (second.row.outcome == OutcomeKind::right) {
    emulated.narrow_window = narrow->window;
  }
  const bool tells = std::ranges::count(kFaults, second.row.outcome) > 0;
  return tells ? second : emulated;
}

Verification verification_of(const SmallEmulation& emulated, const EmulationSettings& settings,
                             std::uint64_t seed) {
  std::vector<std::string> schedules;
  for (const NamedSchedule& schedule : settings.schedules) {
    schedules.push_back(schedule.name);
  }
  const std::string narrow = emulated.narrow_window > 0
                                 ? fmt::format(", and with a window of {}", emulated.narrow_window)
                                 : std::string();
  return {fmt::format("emulated on {}{}; schedules {}", describe(emulated.on), narrow,
                      fmt::join(schedules, ", ")),
          seed, emulated.row.inputs};
}

}  // namespace fatune

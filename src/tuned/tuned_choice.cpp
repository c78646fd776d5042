#include "tuned/tuned_choice.hpp"

#include <vector>

#include "core/error.hpp"
#include "plan/planner.hpp"
#include "runtime/choose.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

Coordinates coordinates_of(const Problem& problem, int sm_count) {
  return fatune_attention::detail::coordinates_of(
      {runtime_problem(problem), problem.layout == Layout::bhsd}, sm_count);
}

namespace {

namespace runtime = fatune_attention::detail;

/// Asks why_not, and keeps the first reason why a configuration is not eligible.
class Eligibility {
 public:
  Eligibility(const Problem& problem, const DeviceLimits& device, const WhyNot& why_not)
      : problem_(problem), device_(device), why_not_(why_not) {}

  [[nodiscard]] bool takes(const Config& config) {
    const auto reason = why_not_(config, problem_, device_);
    if (reason && first_reason_.empty()) {
      first_reason_ = *reason;
    }
    return !reason;
  }
  [[nodiscard]] std::string refusal() const {
    return first_reason_.empty() ? "the table is empty" : first_reason_;
  }

 private:
  const Problem& problem_;
  const DeviceLimits& device_;
  const WhyNot& why_not_;
  std::string first_reason_;
};

TunedChoice of_row(const TunedTable& table, const runtime::Choice& choice) {
  const auto row = static_cast<std::size_t>(choice.row);
  const TunedTime& time = table.problems[row].times[static_cast<std::size_t>(choice.place)];
  return {choice.step, time.config, time.short_form, row, {}, choice.distance};
}

TunedChoice of_default(const TunedTable& table, const runtime::Choice& choice) {
  const auto index = static_cast<std::size_t>(choice.fallback);
  const DefaultConfig& known = table.defaults[index];
  return {choice.step, known.config, known.short_form, {}, index};
}

TunedChoice choice_of(const TunedTable& table, const runtime::Choice& choice) {
  if (choice.row >= 0) {
    return of_row(table, choice);
  }
  return choice.fallback >= 0 ? of_default(table, choice) : TunedChoice{};
}

}  // namespace

std::string_view choice_step_name(ChoiceStep step) { return fatune_attention::step_name(step); }

std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                               const DeviceLimits& device) {
  const RuntimeTable runtime_table(table);
  const GpuModel model = model_of(device);
  const fatune_attention::Problem asked = runtime_problem(problem);
  const runtime::Wanted wanted{asked, problem.layout == Layout::bhsd};
  const auto next = [&](const NearRow* last) {
    return runtime::next_near_row(runtime_table.table(), wanted, runtime_gpu(model), last);
  };
  std::vector<NearRow> rows;
  for (auto near = next(nullptr); near; near = next(&rows.back())) {
    rows.push_back(*near);
  }
  return rows;
}

TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                         const DeviceLimits& device, const WhyNot& why_not) {
  const RuntimeTable runtime_table(table);
  const GpuModel model = model_of(device);
  const fatune_attention::Problem asked = runtime_problem(problem);
  const runtime::Wanted wanted{asked, problem.layout == Layout::bhsd};
  Eligibility eligibility(problem, device, why_not);
  const runtime::Choice choice =
      runtime::choose(runtime_table.table(), wanted, runtime_gpu(model), [&](int configuration) {
        return eligibility.takes(*runtime_table.configs()[static_cast<std::size_t>(configuration)]);
      });
  TunedChoice chosen = choice_of(table, choice);
  if (chosen.step == ChoiceStep::refused) {
    chosen.refusal = eligibility.refusal();
  }
  chosen.untuned = untuned(runtime_table.table(), wanted, runtime_gpu(model), choice.step).text;
  return chosen;
}

namespace {

std::optional<std::string> why_not_launched(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& device) {
  if (const auto invalid = check_valid(family, config, &problem, &device)) {
    return invalid->reason;
  }
  if (const auto unlaunchable = check_limits(family, config, problem, device)) {
    return unlaunchable->limit;
  }
  return std::nullopt;
}

}  // namespace

WhyNot families_say(const FamilySet& families) {
  return [&families](const Config& config, const Problem& problem,
                     const DeviceLimits& device) -> std::optional<std::string> {
    const Family& family = families.of(config);
    try {
      return why_not_launched(family, config, problem, device);
    } catch (const Error& error) {
      return "the problem is too large for it: " + error.what_was_wrong();
    }
  };
}

}  // namespace fatune

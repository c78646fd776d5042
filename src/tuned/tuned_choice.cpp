#include "tuned/tuned_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace fatune {
namespace {

/// The problem and the device that a configuration is chosen for.
struct Wanted {
  const Problem& problem;
  const DeviceLimits& device;
  const WhyNot& why_not;
  GpuModel gpu;
  std::string first_reason{};  ///< why the first that was not eligible is not

  [[nodiscard]] bool takes(const Config& config) {
    const auto reason = why_not(config, problem, device);
    if (reason && first_reason.empty()) {
      first_reason = *reason;
    }
    return !reason;
  }
};

ChoiceStep step_on_this_gpu(const TunedProblem& row, const Problem& problem,
                            const Distance& distance) {
  if (same_work(row.problem, problem)) {
    return ChoiceStep::exact;
  }
  return distance.buckets == 0 ? ChoiceStep::same_bucket : ChoiceStep::neighbour_bucket;
}

/// All of a NearRow but its index; nothing when the row says nothing about the problem.
std::optional<NearRow> near_row(const TunedProblem& row, const Problem& problem,
                                const GpuModel& gpu) {
  if (row.gpu.arch != gpu.arch || !same_kind(row.problem, problem)) {
    return std::nullopt;
  }
  const auto distance = neighbour_distance(coordinates_of(row.problem, row.gpu.sm_count),
                                           coordinates_of(problem, gpu.sm_count));
  if (!distance) {
    return std::nullopt;
  }
  return NearRow{row.gpu == gpu ? step_on_this_gpu(row, problem, *distance) : ChoiceStep::same_arch,
                 *distance, 0};
}

std::optional<TunedChoice> choose_row(const TunedTable& table, Wanted& wanted) {
  for (const NearRow& near : near_rows(table, wanted.problem, wanted.device)) {
    for (const TunedTime& time : table.problems[near.row].times) {
      if (wanted.takes(time.config)) {
        return TunedChoice{near.step, time.config, time.short_form, near.row, {}, near.distance};
      }
    }
  }
  return std::nullopt;
}

/// How little the default is for: the other GPU first, then what else differs.
std::pair<int, int> strangeness(const DefaultConfig& known, const Wanted& wanted) {
  const Problem& problem = wanted.problem;
  const int gpu = known.gpu == wanted.gpu ? 0 : known.gpu.arch == wanted.gpu.arch ? 1 : 2;
  return {gpu, int{known.causal != problem.causal} + int{known.dtype != problem.dtype} +
                   int{known.d_head != problem.d_head} + int{known.d_head_v != problem.d_head_v}};
}

std::optional<TunedChoice> choose_default(const TunedTable& table, Wanted& wanted) {
  std::vector<std::pair<std::pair<int, int>, std::size_t>> defaults;
  for (std::size_t i = 0; i < table.defaults.size(); ++i) {
    defaults.emplace_back(strangeness(table.defaults[i], wanted), i);
  }
  std::ranges::sort(defaults);
  for (const auto& [strange, index] : defaults) {
    const DefaultConfig& known = table.defaults[index];
    if (wanted.takes(known.config)) {
      return TunedChoice{ChoiceStep::fallback, known.config, known.short_form, {}, index};
    }
  }
  return std::nullopt;
}

TunedChoice refused(const Wanted& wanted) {
  TunedChoice choice;
  choice.refusal = wanted.first_reason.empty() ? "the table is empty" : wanted.first_reason;
  return choice;
}

}  // namespace

std::string_view choice_step_name(ChoiceStep step) {
  switch (step) {
    case ChoiceStep::exact:
      return "exact";
    case ChoiceStep::same_bucket:
      return "same bucket";
    case ChoiceStep::neighbour_bucket:
      return "neighbouring bucket";
    case ChoiceStep::same_arch:
      return "same architecture";
    case ChoiceStep::fallback:
      return "default";
    case ChoiceStep::refused:
      break;
  }
  return "refused";
}

std::vector<NearRow> near_rows(const TunedTable& table, const Problem& problem,
                               const DeviceLimits& device) {
  const GpuModel gpu = model_of(device);
  std::vector<NearRow> rows;
  for (std::size_t i = 0; i < table.problems.size(); ++i) {
    if (auto near = near_row(table.problems[i], problem, gpu)) {
      near->row = i;
      rows.push_back(*near);
    }
  }
  std::ranges::sort(rows, [](const NearRow& a, const NearRow& b) { return a < b; });
  return rows;
}

TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                         const DeviceLimits& device, const WhyNot& why_not) {
  Wanted wanted{problem, device, why_not, model_of(device)};
  if (auto choice = choose_row(table, wanted)) {
    return *choice;
  }
  if (auto choice = choose_default(table, wanted)) {
    return *choice;
  }
  return refused(wanted);
}

}  // namespace fatune

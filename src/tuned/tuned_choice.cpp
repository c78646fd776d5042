#include "tuned/tuned_choice.hpp"

#include <algorithm>
#include <compare>
#include <vector>

namespace fatune {
namespace {

/// What is chosen for, and what cannot be.
struct Wanted {
  const Problem& problem;
  const DeviceLimits& device;
  const WhyNot& why_not;
  GpuModel gpu;
  Coordinates coordinates;
  std::string first_reason{};  ///< why the first that was not eligible is not

  [[nodiscard]] bool takes(const Config& config) {
    const auto reason = why_not(config, problem, device);
    if (reason && first_reason.empty()) {
      first_reason = *reason;
    }
    return !reason;
  }
};

/// The place of a row or a default in the order of preference.
template <typename Place>
struct Placed {
  Place place;
  std::size_t index = 0;

  auto operator<=>(const Placed&) const = default;
};
struct RowPlace {
  ChoiceStep step = ChoiceStep::refused;
  Distance distance;

  auto operator<=>(const RowPlace&) const = default;
};

ChoiceStep step_on_this_gpu(const TunedProblem& row, const Wanted& wanted,
                            const Distance& distance) {
  if (same_work(row.problem, wanted.problem)) {
    return ChoiceStep::exact;
  }
  return distance.buckets == 0 ? ChoiceStep::same_bucket : ChoiceStep::neighbour_bucket;
}

/// Nothing when the row says nothing about the problem.
std::optional<RowPlace> place_of(const TunedProblem& row, const Wanted& wanted) {
  if (row.gpu.arch != wanted.gpu.arch || !same_kind(row.problem, wanted.problem)) {
    return std::nullopt;
  }
  const auto distance =
      neighbour_distance(coordinates_of(row.problem, row.gpu.sm_count), wanted.coordinates);
  if (!distance) {
    return std::nullopt;
  }
  return RowPlace{
      row.gpu == wanted.gpu ? step_on_this_gpu(row, wanted, *distance) : ChoiceStep::same_arch,
      *distance};
}

std::optional<TunedChoice> choose_row(const TunedTable& table, Wanted& wanted) {
  std::vector<Placed<RowPlace>> rows;
  for (std::size_t i = 0; i < table.problems.size(); ++i) {
    if (const auto place = place_of(table.problems[i], wanted)) {
      rows.push_back({*place, i});
    }
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return a < b; });
  for (const auto& [place, index] : rows) {
    for (const TunedTime& time : table.problems[index].times) {
      if (wanted.takes(time.config)) {
        return TunedChoice{place.step, time.config, time.short_form, index, {}, place.distance};
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
  std::vector<Placed<std::pair<int, int>>> defaults;
  for (std::size_t i = 0; i < table.defaults.size(); ++i) {
    defaults.push_back({strangeness(table.defaults[i], wanted), i});
  }
  std::ranges::sort(defaults);
  for (const auto& [place, index] : defaults) {
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

TunedChoice choose_tuned(const TunedTable& table, const Problem& problem,
                         const DeviceLimits& device, const WhyNot& why_not) {
  Wanted wanted{problem, device, why_not, model_of(device),
                coordinates_of(problem, device.sm_count)};
  if (auto choice = choose_row(table, wanted)) {
    return *choice;
  }
  if (auto choice = choose_default(table, wanted)) {
    return *choice;
  }
  return refused(wanted);
}

}  // namespace fatune

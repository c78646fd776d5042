#include "counters/counter_fields.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/is_among.hpp"
#include "core/text_parts.hpp"
#include "counters/field_table.hpp"

namespace fatune {
namespace {

struct NamedSet {
  std::string_view name;
  CounterSet set;
  FieldSets bit;
};

constexpr std::array<NamedSet, 3> kSets{{
    {"standard", CounterSet::standard, kStandard},
    {"attention", CounterSet::attention, kAttention},
    {"core", CounterSet::core, kCore},
}};

[[noreturn]] void reject(const std::string& name) {
  throw Error(
      ExitCode::usage, fmt::format("there is no metric '{}'", name), "--metrics",
      fmt::format(
          "a set, a figure or a profiler's metric such as lts__t_bytes.sum; sets and "
          "figures: {}, {}",
          joined(kSets, ", ", &NamedSet::name),
          joined(counter_field_table(), ", ", [](const FieldRow& row) { return row.field.name; })));
}

/// Whether it can be the name of a profiler's metric: unit__what.
bool is_raw_metric(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return name.find("__") != std::string_view::npos && name.find("__") != 0 &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

std::vector<CounterField> chosen(const std::string& name) {
  const auto* const set = std::ranges::find(kSets, name, &NamedSet::name);
  if (set != kSets.end()) {
    return counter_fields(set->set);
  }
  for (const FieldRow& row : counter_field_table()) {
    if (row.field.name == name) {
      return {row.field};
    }
  }
  if (!is_raw_metric(name)) {
    reject(name);
  }
  return {{name, "", name, "as the profiler gives it, in base units", {name}, {}}};
}

}  // namespace

std::vector<CounterField> counter_fields(CounterSet set) {
  const auto* const named = std::ranges::find(kSets, set, &NamedSet::set);
  std::vector<CounterField> fields;
  for (const FieldRow& row : counter_field_table()) {
    if ((row.sets & named->bit) != 0U) {
      fields.push_back(row.field);
    }
  }
  return fields;
}

std::vector<CounterField> choose_counter_fields(std::span<const std::string> names) {
  std::vector<CounterField> fields;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    for (CounterField& field : chosen(name)) {
      if (seen.insert(field.name).second) {
        fields.push_back(std::move(field));
      }
    }
  }
  return fields;
}

std::vector<std::string> raw_metrics(std::span<const CounterField> fields, int arch) {
  std::vector<std::string> metrics;
  for (const CounterField& field : fields) {
    if (arch < field.least_arch) {
      continue;
    }
    for (const auto& part : {field.numerator, field.denominator}) {
      for (const std::string& metric : part) {
        if (!is_among(metric, metrics)) {
          metrics.push_back(metric);
        }
      }
    }
  }
  return metrics;
}

std::vector<std::string> hardware_metrics(std::span<const CounterField> fields, int arch) {
  std::vector<std::string> metrics = raw_metrics(fields, arch);
  std::erase_if(metrics, [](const std::string& name) { return name.starts_with("launch__"); });
  return metrics;
}

}  // namespace fatune

#pragma once

#include "model/config.hpp"
#include "model/problem.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

struct ListedConfig {
  std::string short_form;
  std::vector<NamedValue> parameters{};
  std::string kernel_name{};  ///< empty: the family has no such form, or it was dropped
  std::string rule{};         ///< that dropped it; empty: none
  std::string reason{};
  std::optional<double> estimate_us{};  ///< before compilation; absent: no length was given
};
struct RuleCount {
  std::string rule;
  std::string reason;        ///< why the first configuration was dropped; empty: none was
  std::int64_t dropped = 0;  ///< configurations for which it was the first match
  bool waits = false;        ///< needs a problem or device that is not known, and was not tried
};

/// The report of `list` on a space.
struct PlanReport {
  std::string space;
  std::string family;
  std::vector<ListedConfig> kept;
  std::vector<ListedConfig> pruned;   ///< configurations that the space's rules drop
  std::vector<ListedConfig> invalid;  ///< configurations that the family's validity excludes
  std::vector<RuleCount> rules;       ///< ordered like the rules of the space
  /// The numbers of configurations not listed: the lists of a large space are random samples.
  std::int64_t kept_besides = 0;
  std::int64_t pruned_besides = 0;
  std::int64_t invalid_besides = 0;
  /// The length of the problems on which all rules were tried; absent: rules that need a problem
  /// were not tried.
  std::optional<std::int64_t> seq_len{};
  /// Sentences on values of invalid configurations: those that the family does not know, and those
  /// that it knows.
  std::vector<std::string> unknown_values{};
};

/// `with_dropped`: tables, Markdown and CSV list the dropped configurations too. JSON
/// (configs/schema/list.schema.json) always holds "kept" and "pruned".
[[nodiscard]] Document plan_document(const PlanReport& report, bool with_dropped);

[[nodiscard]] Fields<ProblemPreset> preset_fields();

}  // namespace fatune

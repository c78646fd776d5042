#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "emit/document/document.hpp"
#include "report/report.hpp"

namespace fatune {

struct ListedConfig {
  std::string short_form;
  std::string kernel_name;
  std::vector<NamedValue> parameters;
};
struct ListedDrop {
  std::string short_form;
  std::string rule;
  std::string reason;
};
struct RuleCount {
  std::string rule;
  std::string reason;        ///< for the first that it dropped; empty without one
  std::int64_t dropped = 0;  ///< whose first match it was
  bool waits = false;        ///< for a problem or a device that is not known: it was not tried
};

/// The report of `list` on a space.
struct PlanReport {
  std::string space;
  std::string family;
  std::vector<ListedConfig> kept;
  std::vector<ListedDrop> pruned;   ///< by the space's rules
  std::vector<ListedDrop> invalid;  ///< by the family's validity
  std::vector<RuleCount> rules;     ///< in the space's order
  /// Those that are not listed: of a large space the lists are random samples.
  std::int64_t kept_besides = 0;
  std::int64_t pruned_besides = 0;
  std::int64_t invalid_besides = 0;
  /// The length of the problems on which all rules were tried; absent: rules that wait for a
  /// problem were not.
  std::optional<std::int64_t> seq_len{};
  /// Which values of the invalid ones the family does not know, and which it knows: sentences.
  std::vector<std::string> unknown_values{};
};

/// `with_dropped`: tables, Markdown and CSV list the dropped configurations too. JSON
/// (configs/schema/list.schema.json) always holds "kept" and "pruned".
[[nodiscard]] Document plan_document(const PlanReport& report, bool with_dropped);

}  // namespace fatune

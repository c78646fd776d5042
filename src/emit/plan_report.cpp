#include "emit/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/print_rows.hpp"

namespace fatune {
namespace {

/// CSV's row: kept or dropped, one per configuration.
struct ListRow {
  std::string status;
  const std::string* short_form;
  const std::string* rule;
  const std::string* reason;
};

FieldValue text_of(const std::string* text) {
  return text == nullptr ? FieldValue{} : FieldValue{*text};
}

const std::vector<Field<ListRow>>& list_fields() {
  static const std::vector<Field<ListRow>> fields{
      {"status", "status", "kept, pruned or invalid", 0, kEverywhere,
       [](const ListRow& r) { return FieldValue{r.status}; }, ColumnFit{.leaves = 1, .once = true}},
      {"config", "config", "the configuration's short form", 0, kEverywhere,
       [](const ListRow& r) { return text_of(r.short_form); },
       ColumnFit{.least = 24, .config = true}},
      {"rule", "rule", "id of the rule that dropped it", 0, kEverywhere,
       [](const ListRow& r) { return text_of(r.rule); }},
      {"reason", "reason", "why the rule drops it", 0, kEverywhere,
       [](const ListRow& r) { return text_of(r.reason); }, kWraps},
  };
  return fields;
}

const std::vector<Field<RuleCount>>& rule_fields() {
  static const std::vector<Field<RuleCount>> fields{
      {"rule", "rule", "id of the rule", 0, kEverywhere,
       [](const RuleCount& r) { return FieldValue{r.rule}; }},
      {"dropped", "dropped", "configurations whose first matching rule it was", 0, kEverywhere,
       [](const RuleCount& r) { return FieldValue{r.dropped}; }},
      {"reason", "reason for the first", "why it dropped the first of them; null without one", 0,
       kEverywhere,
       [](const RuleCount& r) { return r.reason.empty() ? FieldValue{} : FieldValue{r.reason}; },
       kWraps},
      {"waits", "waits", "whether it needs a problem or a device, and was not tried", 0,
       kForPrograms, [](const RuleCount& r) { return FieldValue{r.waits}; }},
  };
  return fields;
}

void append_dropped(const char* status, const std::vector<ListedDrop>& dropped,
                    std::vector<ListRow>& rows) {
  for (const ListedDrop& config : dropped) {
    rows.push_back({status, &config.short_form, &config.rule, &config.reason});
  }
}

std::vector<ListRow> rows_of(const PlanReport& report, bool with_dropped) {
  std::vector<ListRow> rows;
  rows.reserve(report.kept.size());
  for (const ListedConfig& config : report.kept) {
    rows.push_back({"kept", &config.short_form, nullptr, nullptr});
  }
  if (with_dropped) {
    append_dropped("pruned", report.pruned, rows);
    append_dropped("invalid", report.invalid, rows);
  }
  return rows;
}

Json json_dropped(const std::vector<ListedDrop>& dropped) {
  Json list = Json::array();
  for (const ListedDrop& config : dropped) {
    list.push_back(
        {{"config", config.short_form}, {"rule", config.rule}, {"reason", config.reason}});
  }
  return list;
}

Json json_kept(const ListedConfig& config) {
  Json kept = {{"config", config.short_form}};
  kept["kernel_name"] = config.kernel_name.empty() ? Json(nullptr) : Json(config.kernel_name);
  kept["parameters"] = json_parameters(config.parameters);
  return kept;
}

std::string print_json(const PlanReport& report) {
  Json json = {{"format", "fatune.list"},
               {"format_version", 1},
               {"family", report.family},
               {"space", report.space}};
  json["seq_len"] = report.seq_len ? Json(*report.seq_len) : Json(nullptr);
  json["kept"] = Json::array();
  for (const ListedConfig& config : report.kept) {
    json["kept"].push_back(json_kept(config));
  }
  json["pruned"] = json_dropped(report.pruned);
  json["invalid"] = json_dropped(report.invalid);
  json["rules"] = json_rows(rule_fields(), report.rules);
  return json_text(json);
}

std::string summary_line(const PlanReport& report) {
  const std::string problem =
      report.seq_len ? fmt::format(", for sequences of {}", *report.seq_len) : "";
  return fmt::format("space {} of {}{}: {} kept, {} pruned, {} invalid\n", report.space,
                     report.family, problem, report.kept.size(), report.pruned.size(),
                     report.invalid.size());
}

std::string waiting_line(const PlanReport& report, const Page& page) {
  std::vector<std::string> waiting;
  for (const RuleCount& rule : report.rules) {
    if (rule.waits) {
      waiting.push_back(rule.rule);
    }
  }
  return waiting.empty() ? std::string()
                         : fmt::format("{}tried on each problem, or with --seq: {}\n",
                                       page.format == OutputFormat::markdown ? "\n" : "",
                                       fmt::join(waiting, ", "));
}

/// Markdown would join lines that follow each other.
std::string unknown_lines(const PlanReport& report, const Page& page) {
  std::string text;
  for (const std::string& unknown : report.unknown_values) {
    text += (page.format == OutputFormat::markdown ? "\ninvalid: " : "invalid: ") + unknown + "\n";
  }
  return text;
}

}  // namespace

std::string print_plan_report(const PlanReport& report, const Page& page, bool with_dropped) {
  if (page.format == OutputFormat::json) {
    return print_json(report);
  }
  std::string configs = print_rows(list_fields(), rows_of(report, with_dropped), page);
  if (page.format == OutputFormat::csv) {
    return configs;
  }
  std::string text = summary_line(report) + waiting_line(report, page) +
                     unknown_lines(report, page) + "\n" + configs;
  if (with_dropped && !report.rules.empty()) {
    text += "\n" + print_rows(rule_fields(), report.rules, page);
  }
  return text;
}

}  // namespace fatune

#include "commands/list/list_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "model/record_json.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

/// A row of the CSV: one configuration, kept or dropped.
struct ListRow {
  std::string status;
  const std::string* short_form;
  const std::string* rule;
  const std::string* reason;
  std::optional<double> estimate_us;
  const std::vector<NamedValue>* parameters;
};

std::optional<std::string> text_of(const std::string* text) {
  return text == nullptr ? std::nullopt : std::optional(*text);
}

Fields<ListRow> list_fields() {
  return {
      {"status", "status", &ListRow::status},
      {"config", "config", kWraps, [](const ListRow& r) { return text_of(r.short_form); }},
      {"rule", "rule", [](const ListRow& r) { return text_of(r.rule); }},
      {"reason", "reason", kWraps, [](const ListRow& r) { return text_of(r.reason); }},
      {"estimate_us", "estimate us", Look{.decimals = 1, .shown = kForPrograms},
       &ListRow::estimate_us},
  };
}

Fields<RuleCount> rule_fields() {
  return {
      {"rule", "rule", &RuleCount::rule},
      {"dropped", "dropped", &RuleCount::dropped},
      {"reason", "reason for the first", kWraps, or_none<&RuleCount::reason>},
      {"waits", "waits", kProgramsOnly, &RuleCount::waits},
  };
}

void append_dropped(const char* status, const std::vector<ListedDrop>& dropped,
                    std::vector<ListRow>& rows) {
  for (const ListedDrop& config : dropped) {
    rows.push_back({status, &config.short_form, &config.rule, &config.reason, std::nullopt,
                    &config.parameters});
  }
}

std::vector<ListRow> rows_of(const PlanReport& report, bool with_dropped) {
  std::vector<ListRow> rows = mapped(report.kept, [&](const ListedConfig& config) {
    return ListRow{"kept",  &config.short_form, nullptr,
                   nullptr, config.estimate_us, &config.parameters};
  });
  if (with_dropped) {
    append_dropped("pruned", report.pruned, rows);
    append_dropped("invalid", report.invalid, rows);
  }
  return rows;
}

/// The rows of the CSV. They have the parameters too, so that these can be filtered and shown.
Table records_of(const PlanReport& report, bool with_dropped) {
  const std::vector<ListRow> rows = rows_of(report, with_dropped);
  Table table = table_of(list_fields(), rows);
  append_parameters(mapped(rows,
                           [&](const ListRow& row) {
                             return RowParameters{report.family, row.parameters};
                           }),
                    table);
  return table;
}

Json json_dropped(const ListedDrop& config) {
  return {{"config", config.short_form}, {"rule", config.rule}, {"reason", config.reason}};
}

Json json_kept(const ListedConfig& config) {
  Json kept = {{"config", config.short_form}};
  kept["kernel_name"] = config.kernel_name.empty() ? Json(nullptr) : Json(config.kernel_name);
  kept["parameters"] = parameters_json(config.parameters);
  kept["estimate_us"] = config.estimate_us ? Json(*config.estimate_us) : Json(nullptr);
  return kept;
}

template <typename T>
std::int64_t count_all(const std::vector<T>& listed, std::int64_t besides) {
  return static_cast<std::int64_t>(listed.size()) + besides;
}

Json json_plan(const PlanReport& report) {
  Json json = json_head("list");
  json["family"] = report.family;
  json["space"] = report.space;
  json["seq_len"] = report.seq_len ? Json(*report.seq_len) : Json(nullptr);
  json["kept"] = json_list(report.kept, json_kept);
  json["pruned"] = json_list(report.pruned, json_dropped);
  json["invalid"] = json_list(report.invalid, json_dropped);
  json["rules"] = json_rows(rule_fields(), report.rules);
  json["counts"] = {{"kept", count_all(report.kept, report.kept_besides)},
                    {"pruned", count_all(report.pruned, report.pruned_besides)},
                    {"invalid", count_all(report.invalid, report.invalid_besides)}};
  return json;
}

std::string summary_line(const PlanReport& report) {
  const std::string problem =
      report.seq_len ? fmt::format(", for sequences of {}", *report.seq_len) : "";
  return fmt::format("space {} of {}{}: {} kept, {} pruned, {} invalid", report.space,
                     report.family, problem, count_all(report.kept, report.kept_besides),
                     count_all(report.pruned, report.pruned_besides),
                     count_all(report.invalid, report.invalid_besides));
}

Blocks samples(const PlanReport& report) {
  if (report.kept_besides + report.pruned_besides + report.invalid_besides == 0) {
    return {};
  }
  return {
      block::ParagraphEnd{},
      block::Text{fmt::format("the list is a random sample: {} kept, {} pruned, {} invalid\n",
                              report.kept.size(), report.pruned.size(), report.invalid.size())}};
}

Blocks waiting_rules(const PlanReport& report) {
  std::vector<std::string> waiting;
  for (const RuleCount& rule : report.rules) {
    if (rule.waits) {
      waiting.push_back(rule.rule);
    }
  }
  return waiting.empty() ? Blocks{}
                         : Blocks{block::ParagraphEnd{},
                                  block::Line{fmt::format("tried on each problem, or with --seq: "
                                                          "{}",
                                                          fmt::join(waiting, ", "))}};
}

Blocks blocks_of(const PlanReport& report, bool with_dropped) {
  Blocks blocks{block::Line{summary_line(report)}};
  append(blocks, samples(report));
  append(blocks, waiting_rules(report));
  for (const std::string& unknown : report.unknown_values) {
    append(blocks, {block::ParagraphEnd{}, block::Line{"invalid: " + unknown}});
  }
  append(blocks,
         {block::Text{"\n"}, block::Rows{table_of(list_fields(), rows_of(report, with_dropped))}});
  if (with_dropped && !report.rules.empty()) {
    append(blocks, {block::Text{"\n"}, block::Rows{table_of(rule_fields(), report.rules)}});
  }
  return blocks;
}

std::optional<DetailValue> preset_detail(const ProblemPreset& preset, const ProblemDetail& detail) {
  const auto found = preset.details.find(&detail);
  return found == preset.details.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Document plan_document(const PlanReport& report, bool with_dropped) {
  return {[&report, with_dropped] { return blocks_of(report, with_dropped); },
          [&report, with_dropped] { return records_of(report, with_dropped); },
          [&] { return json_plan(report); }};
}

Fields<ProblemPreset> preset_fields() {
  Fields<ProblemPreset> fields = joined_fields<ProblemPreset>(
      {{{"name", "preset", &ProblemPreset::name},
        {"heads", "heads", &ProblemPreset::heads},
        {"d_head", "d_head", &ProblemPreset::d_head},
        {"dtype", "dtype", [](const ProblemPreset& p) { return dtype_name(p.dtype); }},
        {"causal", "causal", &ProblemPreset::causal}},
       detail_fields<ProblemPreset, preset_detail>(kEverywhere),
       {{"note", "note", kWraps, or_none<&ProblemPreset::note>},
        {"source", "source", &ProblemPreset::source}}});
  // The table has many columns: short headings make room for the notes, and the window's column
  // leaves a narrow terminal last.
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
  }
  std::iter_swap(std::ranges::find(fields, "d_head_v", &Field<ProblemPreset>::name),
                 std::ranges::find(fields, "window", &Field<ProblemPreset>::name));
  return fields;
}

Document presets_document(const std::vector<ProblemPreset>& presets) {
  return rows_document("presets", "presets", preset_fields(), presets);
}

}  // namespace fatune

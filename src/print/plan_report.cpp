#include "print/plan_report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "model/problem.hpp"
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

template <auto kMember>
const auto compiled_fact = [](const CompiledConfig& row) {
  return row.facts ? std::optional((*row.facts).*kMember) : std::nullopt;
};

template <auto kMember>
const auto compiled_integer = [](const CompiledConfig& row) {
  return row.facts ? std::optional(row.*kMember) : std::nullopt;
};

template <std::string CompiledConfig::*kMember>
const auto compiled_text = [](const CompiledConfig& row) { return text_or_none(row.*kMember); };

Json json_shape(const Problem& problem) {
  Json shape = record_json(problem);
  shape.erase("dtype");
  shape.erase("d_head");
  return shape;
}

Json json_compiled(const CompiledConfig& row) {
  Json config = json_object(compile_fields(), row);
  config["symbol"] = row.facts ? Json(row.symbol) : Json();
  config["grid"] = row.facts ? Json(row.geometry.grid) : Json();
  config["block"] = row.facts ? Json(row.geometry.block) : Json();
  config["launch"] = row.facts ? json_launch(row.problem, row.geometry) : Json();
  config["log"] = row.log;
  return config;
}

Json json_compilation(const CompileReport& report) {
  Json json = json_head("compile");
  json["measured"] = false;
  json["complete"] = report.coverage.complete;
  json["family"] = report.family;
  json["space"] = report.space;
  json["problem"] = json_shape(report.problem);
  json["device"] = record_json(report.device);
  json["toolchain"] = record_json(report.toolchain);
  json["wall_s"] = json_value(report.wall_s);
  json["configs"] = json_list(report.configs, json_compiled);
  return json;
}

std::string summary_line(const CompileReport& report) {
  const auto count = [&](auto&& matches) { return std::ranges::count_if(report.configs, matches); };
  return fmt::format("{} {} for {}: {} compiled ({} from the cache), {} not; {:.2f} s",
                     report.family, report.space, arch_name(report.device.arch),
                     count([](const CompiledConfig& r) { return r.facts.has_value(); }),
                     count([](const CompiledConfig& r) { return r.facts && r.from_cache; }),
                     count([](const CompiledConfig& r) { return !r.facts; }), report.wall_s);
}

bool is_compiled(const CompiledConfig& config) { return config.status == OutcomeKind::compiled; }

std::vector<CompiledConfig> compiled_of(const CompileReport& report) {
  std::vector<CompiledConfig> compiled;
  std::ranges::copy_if(report.configs, std::back_inserter(compiled), is_compiled);
  return compiled;
}

/// The others: a line for each reason.
Blocks failures_of(const CompileReport& report) {
  std::vector<FailureGroup> failures;
  for (const CompiledConfig& config : report.configs) {
    if (!is_compiled(config)) {
      failures.push_back({config.status, config.detail, config.detail, config.short_form});
    }
  }
  if (failures.empty()) {
    return {};
  }
  return {block::Text{"\n"}, block::Heading{fmt::format("failed: {}", failures.size())},
          block::Rows{table_of(failure_group_fields(), grouped(failures))}, block::ParagraphEnd{},
          block::Text{"one line for each reason; --format csv lists every configuration\n"}};
}

struct NamedTensor {
  TensorRole role;
  const char* name;  ///< what the arguments call it
};
constexpr NamedTensor kNamedTensors[]{
    {TensorRole::q, "q"}, {TensorRole::k, "k"}, {TensorRole::v, "v"}, {TensorRole::o, "o"}};

Json json_tensor(const Problem& problem, const NamedTensor& tensor) {
  const TensorShape shape = tensor_shape(problem, tensor.role);
  return {{"name", tensor.name},
          {"element_type", problem.dtype == DType::fp16 ? "float16" : "bfloat16"},
          {"shape", {shape.batch, shape.rows, shape.heads, shape.columns}},
          {"strides", {shape.batch_stride, shape.row_stride, shape.head_stride, 1}}};
}

}  // namespace

Document plan_document(const PlanReport& report, bool with_dropped) {
  return {[&report, with_dropped] { return blocks_of(report, with_dropped); },
          [&report, with_dropped] { return records_of(report, with_dropped); },
          [&] { return json_plan(report); }};
}

Json json_launch(const Problem& problem, const LaunchGeometry& geometry) {
  Json launch = record_json(geometry);
  launch["tensors"] = json_list(
      kNamedTensors, [&](const NamedTensor& tensor) { return json_tensor(problem, tensor); });
  return launch;
}

Fields<CompiledConfig> compile_fields() {
  return {
      {"config", "config", kWraps, &CompiledConfig::short_form},
      {"status", "status", [](const CompiledConfig& r) { return outcome_name(r.status); }},
      {"registers_per_thread", "regs", compiled_fact<&ResourceFacts::registers_per_thread>},
      {"spill_store_bytes", "spill st", compiled_fact<&ResourceFacts::spill_store_bytes>},
      {"spill_load_bytes", "spill ld", compiled_fact<&ResourceFacts::spill_load_bytes>},
      {"local_bytes", "local", compiled_fact<&ResourceFacts::local_bytes>},
      {"static_smem_bytes", "static smem", kProgramsOnly,
       compiled_fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", kProgramsOnly,
       compiled_integer<&CompiledConfig::dynamic_smem_bytes>},
      {"smem_bytes", "smem",
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.facts->static_smem_bytes + r.dynamic_smem_bytes)
                        : std::nullopt;
       }},
      {"threads_per_block", "threads", compiled_integer<&CompiledConfig::threads_per_block>},
      {"blocks_per_sm", "blk/SM", compiled_integer<&CompiledConfig::blocks_per_sm>},
      {"code_bytes", "code", compiled_fact<&ResourceFacts::code_bytes>},
      {"assembler_notes", "notes", kProgramsOnly,
       [](const CompiledConfig& r) {
         return r.facts && !r.facts->notes.empty() ? std::optional(notes_text(r.facts->notes))
                                                   : std::nullopt;
       }},
      {"compile_ms", "ms", kProgramsOnly,
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.compile_ms) : std::nullopt;
       }},
      {"from_cache", "cached", kProgramsOnly,
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.from_cache) : std::nullopt;
       }},
      {"cubin_file", "cubin", kProgramsOnly, compiled_text<&CompiledConfig::cubin_file>},
      {"ptx_file", "ptx", kProgramsOnly, compiled_text<&CompiledConfig::ptx_file>},
      {"artifact_key", "key", kProgramsOnly, compiled_text<&CompiledConfig::artifact_key>},
      {"detail", "detail", kWraps, compiled_text<&CompiledConfig::detail>},
  };
}

Document compile_document(const CompileReport& report) {
  const auto records = [&] { return table_of(compile_fields(), report.configs); };
  const auto for_people = [&report] {
    Blocks blocks{block::Rows{table_of(compile_fields(), compiled_of(report))}};
    append(blocks, failures_of(report));
    append(blocks, {block::Text{incomplete_text(report.coverage) + "\n"},
                    block::Line{summary_line(report)}});
    return blocks;
  };
  return {for_people, records, [&] { return json_compilation(report); }};
}

}  // namespace fatune

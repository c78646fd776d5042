#include "commands/compile/compile_report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/record_json.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

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

#include "emit/compile_report.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "emit/coverage.hpp"
#include "emit/device_fields.hpp"
#include "emit/failure_groups.hpp"
#include "emit/launch_json.hpp"
#include "record/record_json.hpp"

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

}  // namespace

const std::vector<Field<CompiledConfig>>& compile_fields() {
  static const std::vector<Field<CompiledConfig>> fields{
      {"config", "config", "the configuration's short form", 0, kEverywhere,
       member<&CompiledConfig::short_form>, ColumnFit{.config = true}},
      {"status", "status",
       "how the compilation ended: compiled, serialized, invalid, unlaunchable, compile_failed or "
       "compiler_crashed",
       0, kEverywhere, [](const CompiledConfig& r) { return outcome_name(r.status); },
       ColumnFit{.once = true}},
      {"registers_per_thread", "regs", "registers per thread", 0, kEverywhere,
       compiled_fact<&ResourceFacts::registers_per_thread>},
      {"spill_store_bytes", "spill st", "bytes of spill stores per thread (static count)", 0,
       kEverywhere, compiled_fact<&ResourceFacts::spill_store_bytes>, ColumnFit{.leaves = 3}},
      {"spill_load_bytes", "spill ld", "bytes of spill loads per thread (static count)", 0,
       kEverywhere, compiled_fact<&ResourceFacts::spill_load_bytes>},
      {"local_bytes", "local", "stack frame per thread in bytes", 0, kEverywhere,
       compiled_fact<&ResourceFacts::local_bytes>, ColumnFit{.leaves = 1}},
      {"static_smem_bytes", "static smem", "static shared memory per block in bytes", 0,
       kForPrograms, compiled_fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", "dynamic shared memory per block in bytes", 0,
       kForPrograms, compiled_integer<&CompiledConfig::dynamic_smem_bytes>},
      {"smem_bytes", "smem", "shared memory per block in bytes, static and dynamic", 0, kEverywhere,
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.facts->static_smem_bytes + r.dynamic_smem_bytes)
                        : std::nullopt;
       },
       ColumnFit{.leaves = 5}},
      {"threads_per_block", "threads", "threads per block", 0, kEverywhere,
       compiled_integer<&CompiledConfig::threads_per_block>, ColumnFit{.leaves = 2}},
      {"blocks_per_sm", "blk/SM",
       "thread blocks that fit on one SM at a time; 0: the kernel cannot be launched", 0,
       kEverywhere, compiled_integer<&CompiledConfig::blocks_per_sm>, ColumnFit{.leaves = 6}},
      {"code_bytes", "code", "size of the machine code in bytes", 0, kEverywhere,
       compiled_fact<&ResourceFacts::code_bytes>, ColumnFit{.leaves = 4}},
      {"assembler_notes", "notes",
       "notes of ptxas about asynchronous matrix products and setmaxnreg; null: none", 0,
       kForPrograms,
       [](const CompiledConfig& r) {
         return r.facts && !r.facts->notes.empty() ? std::optional(notes_text(r.facts->notes))
                                                   : std::nullopt;
       }},
      {"compile_ms", "ms",
       "compile time in milliseconds, also if the machine code came from the cache", 0,
       kForPrograms,
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.compile_ms) : std::nullopt;
       }},
      {"from_cache", "cached", "whether the machine code came from the cache", 0, kForPrograms,
       [](const CompiledConfig& r) {
         return r.facts ? std::optional(r.from_cache) : std::nullopt;
       }},
      {"cubin_file", "cubin", "file that the machine code was written to; null: none", 0,
       kForPrograms, compiled_text<&CompiledConfig::cubin_file>},
      {"ptx_file", "ptx", "file that the PTX was written to; null: none", 0, kForPrograms,
       compiled_text<&CompiledConfig::ptx_file>},
      {"artifact_key", "key", "content address of the machine code", 0, kForPrograms,
       compiled_text<&CompiledConfig::artifact_key>},
      {"detail", "detail",
       "why the configuration was not compiled or is not worth measuring; null: neither", 0,
       kEverywhere, compiled_text<&CompiledConfig::detail>, kWraps},
  };
  return fields;
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

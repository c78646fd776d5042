#include <cctype>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/compile/compile.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "engine/progress.hpp"
#include "gpu/compiler.hpp"
#include "model/record_json.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "print/files.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

bool is_plain(char c) { return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Replaces every run of other characters by one '_', and drops those at the ends.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_plain(c) || (!name.empty() && name.back() != '_')) {
      name += is_plain(c) ? c : '_';
    }
  }
  return name.substr(0, name.find_last_not_of('_') + 1);
}

/// FATUNE_ROW_STRIDE and 2048 give ".row_stride-2048"; FATUNE_CAUSAL and 1 give ".causal". Names of
/// defines contain neither '.' nor '-', so different constants give different texts.
std::string as_part(std::string define, const std::string& value) {
  constexpr std::string_view kPrefix = "FATUNE_";
  define.erase(0, define.starts_with(kPrefix) ? kPrefix.size() : 0);
  std::ranges::transform(define, define.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "." + define + (value == "1" ? "" : "-" + value);
}

/// Returns the request's constants as a text. The parameters' defines are left out, because the
/// short form has them.
std::string constants_of(const Family& family, const CompileRequest& request) {
  std::string text;
  for (const auto& [name, value] : request.defines) {
    if (value != "0" && is_among(name, family.defines, &Define::name)) {
      text += as_part(name, value);
    }
  }
  return text;
}

/// Returns the name of a kernel's file without its suffix: the family, the configuration's short
/// form, the compiled-in properties of the problem and the GPU (the family's defines that are not
/// 0), and the architecture, as
/// "flash_sm80_FP16_128_64_64_4_async_load_2_2_2_tiles.causal.row_stride-2048.sm_80". Requests of
/// one family that differ in any of these have different names.
std::string kernel_file_stem(const Family& family, const CompileRequest& request) {
  return family.name + "_" + as_name(request.label) + constants_of(family, request) + "." +
         arch_name(request.arch);
}

struct CompileOptions : OfflineOptions {
  std::vector<std::string> configs;  ///< instead of a space
  std::optional<std::filesystem::path> out_dir;
  bool ptx = false;
  bool strict = false;
};

struct Job {
  const CompileOptions& options;
  const Family& family;
  DeviceLimits limits;
  std::int64_t seq_len;
};

std::int64_t only_seq_len(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "compile takes one sequence length", "--seq",
                "its remainder modulo the tiles is compiled in; run once per length");
  }
  return first_seq_len(problems);
}

/// A configuration before compilation, with its request if it can be compiled.
struct Prepared {
  CompiledConfig row;
  std::optional<CompileRequest> request{};
};

void set_outcome(const Outcome& outcome, CompiledConfig& row) {
  row.status = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
}

Prepared prepare(const Job& job, const Config& config) {
  const Problem problem = problem_for(job.family, config, job.options.problems, job.seq_len);
  Prepared prepared;
  prepared.row.result = make_result(job.family, config);
  prepared.row.problem = problem;
  if (const auto obstacle = find_obstacle({job.family, config, problem, job.limits})) {
    set_outcome(*obstacle, prepared.row);
    return prepared;
  }
  prepared.row.geometry = launch_geometry({job.family, config, problem, job.limits});
  prepared.request = compile_request({job.family, config, problem, job.limits});
  return prepared;
}

void write_artifact(const Job& job, const CompileRequest& request, const Artifact& artifact,
                    CompiledConfig& row) {
  const std::optional<std::filesystem::path>& out_dir = job.options.out_dir;
  if (!out_dir) {
    return;
  }
  const std::string stem = kernel_file_stem(job.family, request);
  row.cubin_file = (*out_dir / (stem + ".cubin")).string();
  write_output_file(row.cubin_file, {artifact.cubin.data(), artifact.cubin.size()});
  if (job.options.ptx) {
    row.ptx_file = (*out_dir / (stem + ".ptx")).string();
    write_output_file(row.ptx_file, artifact.ptx);
  }
}

void add_failure(const CompileResult& result, CompiledConfig& row) {
  set_outcome(*failure_of(result), row);
  row.log = *failure_log(result);
}

void add_compiled(const Job& job, const Artifact& artifact, Prepared& prepared) {
  CompiledConfig& row = prepared.row;
  row.geometry =
      launch_geometry({job.family, row.result.config, row.problem, job.limits}, &artifact.facts);
  const auto unlaunchable = add_artifact(artifact, row.geometry, job.limits, row.result);
  const auto serialized = find_serialization(artifact.facts);
  row.status = OutcomeKind::compiled;
  if (unlaunchable) {
    set_outcome(*unlaunchable, row);
  } else if (serialized) {
    set_outcome(*serialized, row);
  }
  row.log = artifact.log;
  row.symbol = artifact.lowered_name;
  write_artifact(job, prepared.request.value(), artifact, row);
}

void compile_prepared(const Job& job, std::vector<Prepared>& prepared) {
  std::vector<CompileRequest> requests;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    if (const std::optional<CompileRequest>& request = prepared[i].request) {
      requests.push_back(*request);
      owners.push_back(i);
    }
  }
  const auto cache = open_cache(job.options.compile);
  Progress progress(job.options.output, owners.size());
  compile_each(
      requests,
      [&](const CompileRequest& request) { return compile(request, cache.get(), job.options.ptx); },
      job_count(job.options.compile),
      [&](std::size_t index, const auto& result) {
        Prepared& owner = prepared[owners.at(index)];
        progress.begin_problem(owner.row.problem);
        if (const auto* artifact = std::get_if<Artifact>(result.get())) {
          add_compiled(job, *artifact, owner);
        } else {
          add_failure(*result, owner.row);
        }
        progress.step();
        return !InterruptWatch::interrupted();
      });
  progress.finish();
}

ExitCode exit_code_of(const CompileReport& report, bool strict) {
  if (!report.coverage.complete) {
    return ExitCode::interrupted;
  }
  const auto any = [&](OutcomeKind status) {
    return is_among(status, report.configs, &CompiledConfig::status);
  };
  if (strict && std::ranges::any_of(report.configs, is_without_code, &CompiledConfig::status)) {
    return ExitCode::failed_outcomes;
  }
  return any(OutcomeKind::compiled) || any(OutcomeKind::serialized) ? ExitCode::ok
                                                                    : ExitCode::nothing_ranked;
}

ExitCode compile_offline(const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const KernelSet kernels = choose_kernels(options.kernels, options.configs);
  const Target target = offline_target(options.arch, kernels.tree, kernels.families.all());
  const Job job{options, kernels.family(), target.limits, only_seq_len(options.problems)};
  CompileReport report;
  std::vector<Prepared> prepared;
  for (const Config& config :
       choose_configs(kernels, options.kernels, options.configs, options.problems, report.space)) {
    prepared.push_back(prepare(job, config));
    report.problem = problem_for(kernels.family(), config, options.problems, job.seq_len);
  }
  const InterruptWatch watch;
  compile_prepared(job, prepared);
  for (Prepared& one : prepared) {
    if (one.row.status != OutcomeKind::stopped) {
      report.configs.push_back(std::move(one.row));
    }
  }
  report.coverage = {report.configs.size(), prepared.size(), !InterruptWatch::interrupted()};
  report.family = kernels.family().name;
  report.device = target.limits;
  report.toolchain = toolchain_in_use(target);
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_document(compile_document(report), options.output);
  return exit_code_of(report, options.strict);
}

void add_written_files(CLI::App& app, CompileOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--out", "DIR", "folder for the .cubin (and .ptx) files", options.out_dir);
  app.add_flag("--ptx", options.ptx, "write PTX too")->needs("--out");
  app.add_flag("--strict", options.strict, "exit with 6 if a configuration did not compile");
}

template <auto kMember>
const auto compiled_fact =
    [](const CompiledConfig& row) { return if_any(row.result.facts, kMember); };

template <auto kMember>
const auto compiled_member = [](const CompiledConfig& row) {
  return row.result.facts ? std::optional(row.result.*kMember) : std::nullopt;
};

Json json_shape(const Problem& problem) {
  Json shape = record_json(problem);
  shape.erase("dtype");
  shape.erase("d_head");
  return shape;
}

Json json_compiled(const CompiledConfig& row) {
  Json config = json_object(compile_fields(), row);
  config["symbol"] = row.result.facts ? Json(row.symbol) : Json();
  config["grid"] = row.result.facts ? Json(row.geometry.grid) : Json();
  config["block"] = row.result.facts ? Json(row.geometry.block) : Json();
  config["launch"] = row.result.facts ? json_launch(row.problem, row.geometry) : Json();
  config["log"] = row.log;
  return config;
}

Json json_compilation(const CompileReport& report) {
  return json_document("compile", {{"measured", false},
                                   {"complete", report.coverage.complete},
                                   {"family", report.family},
                                   {"space", report.space},
                                   {"problem", json_shape(report.problem)},
                                   {"device", record_json(report.device)},
                                   {"toolchain", record_json(report.toolchain)},
                                   {"wall_s", json_value(report.wall_s)},
                                   {"configs", json_list(report.configs, json_compiled)}});
}

std::string summary_line(const CompileReport& report) {
  const auto count = [&](auto&& matches) { return std::ranges::count_if(report.configs, matches); };
  return fmt::format(
      "{} {} for {}: {} compiled ({} from the cache), {} not; {:.2f} s", report.family,
      report.space, arch_name(report.device.arch),
      count([](const CompiledConfig& r) { return r.result.facts.has_value(); }),
      count([](const CompiledConfig& r) { return r.result.facts && r.result.from_cache; }),
      count([](const CompiledConfig& r) { return !r.result.facts; }), report.wall_s);
}

bool is_compiled(const CompiledConfig& config) { return config.status == OutcomeKind::compiled; }

/// The others: a line for each reason.
Blocks failures_of(const CompileReport& report) {
  std::vector<FailureGroup> failures;
  for (const CompiledConfig& config : report.configs) {
    if (!is_compiled(config)) {
      failures.push_back({config.status, config.detail, config.detail, config.result.short_form});
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

std::string_view element_type_of(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::e5m2:
      return "float8_e5m2";
    case DType::e4m3:
      break;
  }
  return "float8_e4m3fn";
}

Json json_tensor(const Problem& problem, const NamedTensor& tensor) {
  const TensorShape shape = tensor_shape(problem, tensor.role);
  return {{"name", tensor.name},
          {"element_type", element_type_of(dtype_of(problem, tensor.role))},
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
      {"config", "config", kWraps, [](auto& r) { return r.result.short_form; }},
      {"status", "status", [](auto& r) { return outcome_name(r.status); }},
      {"registers_per_thread", "regs", compiled_fact<&ResourceFacts::registers_per_thread>},
      {"spill_store_bytes", "spill st", compiled_fact<&ResourceFacts::spill_store_bytes>},
      {"spill_load_bytes", "spill ld", compiled_fact<&ResourceFacts::spill_load_bytes>},
      {"local_bytes", "local", compiled_fact<&ResourceFacts::local_bytes>},
      {"static_smem_bytes", "static smem", kProgramsOnly,
       compiled_fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", kProgramsOnly,
       compiled_member<&Result::dynamic_smem_bytes>},
      {"smem_bytes", "smem",
       [](auto& r) {
         return if_any(r.result.facts, [&](auto& facts) {
           return facts.static_smem_bytes + r.result.dynamic_smem_bytes;
         });
       }},
      {"threads_per_block", "threads", compiled_member<&Result::threads_per_block>},
      {"blocks_per_sm", "blk/SM", compiled_member<&Result::blocks_per_sm>},
      {"code_bytes", "code", compiled_fact<&ResourceFacts::code_bytes>},
      {"assembler_notes", "notes", kProgramsOnly,
       [](auto& r) {
         return if_any(r.result.facts,
                       [](auto& facts) { return text_or_none(notes_text(facts.notes)); });
       }},
      {"compile_ms", "ms", kProgramsOnly, compiled_member<&Result::compile_ms>},
      {"from_cache", "cached", kProgramsOnly, compiled_member<&Result::from_cache>},
      {"cubin_file", "cubin", kProgramsOnly, or_none<&CompiledConfig::cubin_file>},
      {"ptx_file", "ptx", kProgramsOnly, or_none<&CompiledConfig::ptx_file>},
      {"artifact_key", "key", kProgramsOnly,
       [](auto& r) { return text_or_none(r.result.artifact_key); }},
      {"detail", "detail", kWraps, or_none<&CompiledConfig::detail>},
  };
}

Document compile_document(const CompileReport& report) {
  const auto records = [&] { return table_of(compile_fields(), report.configs); };
  const auto for_people = [&report] {
    return joined_blocks(
        {{block::Rows{table_of(compile_fields(), filtered(report.configs, is_compiled))}},
         failures_of(report),
         {block::Text{incomplete_text(report.coverage) + "\n"},
          block::Line{summary_line(report)}}});
  };
  return {for_people, records, [&] { return json_compilation(report); }};
}

void add_compile_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "compile", "Compile without running: registers, spills, shared memory, blocks per SM",
      compile_offline);
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_configs_option(
      sub, options.configs,
      "configuration instead of a space, in short form or as a kernel name; repeatable")
      ->excludes("--space");
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_compile_settings(sub, options.compile);
  add_written_files(sub, options);
  add_output_options(sub, options.output);
  sub.footer(
      R"(The default architecture is sm_90a. The remainder of the sequence length in the last tile is compiled in.
--out names a file after the family, the configuration, the compiled-in constants of problem and GPU
(those that are not 0) and the architecture:
  flash_sm80_FP16_..._tiles.causal.min_blocks-2.row_stride-2048.sm_80.cubin
Examples:
  fatune compile --space tune --arch sm_80
  fatune compile --space all --arch sm_90a --format json
  fatune compile --arch sm_86 --out kernels_out --ptx \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune

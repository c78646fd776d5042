#include "app/emulate_config.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/emulated_counts.hpp"
#include "app/emulated_launch.hpp"
#include "app/source_names.hpp"
#include "common/attention_args.h"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "emulate/decode_program.hpp"
#include "engine/entries.hpp"
#include "measure/compare_outputs.hpp"
#include "measure/error_rule.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"
#include "ptx/parse_ptx.hpp"

namespace fatune {
namespace {

/// A kernel ready to be emulated, with the text that it was made from.
struct EmulatedKernel {
  PtxModule module;
  const PtxFunction* function = nullptr;
  emulate::Program program;
};

EmulatedKernel read_kernel(const Artifact& artifact, const Family& family,
                           const std::string& origin) {
  EmulatedKernel kernel;
  kernel.module = parse_ptx(artifact.ptx, origin);
  use_include_names(lines_of_files(*family.sources), kernel.module.places);
  kernel.program = emulate::decode_program(kernel.module, artifact.lowered_name, origin);
  kernel.function = &*std::find_if(
      kernel.module.functions.begin(), kernel.module.functions.end(),
      [&](const PtxFunction& function) { return function.name == artifact.lowered_name; });
  if (kernel.program.parameter_bytes != sizeof(AttentionForwardArgs)) {
    throw Error(ExitCode::bad_file,
                fmt::format("the kernel takes {} bytes of arguments, attention_forward has {}",
                            kernel.program.parameter_bytes, sizeof(AttentionForwardArgs)),
                origin);
  }
  return kernel;
}

double share_of_limit(const ErrorStats& stats) {
  const double greatest = std::max(stats.max_abs_error, stats.max_abs_difference);
  return stats.not_finite > 0 ? HUGE_VAL : greatest / stats.limit;
}

/// One configuration through all its runs.
class Runs {
 public:
  Runs(const EmulationJob& job, const EmulatedKernel& kernel, const LaunchGeometry& geometry,
       EmulatedConfig& row)
      : job_(job), kernel_(kernel), geometry_(geometry), row_(row) {}

  void run_all() {
    bool finished = true;
    for (const EmulatedInput& input : job_.problems.inputs_of(row_.problem)) {
      first_output_.reset();
      for (const NamedSchedule& schedule : job_.schedules) {
        finished = finished && run(input, schedule);
      }
    }
    judge();
  }

 private:
  /// False when a finding has ended the kernel: what hangs once is not run again.
  bool run(const EmulatedInput& input, const NamedSchedule& schedule) {
    EmulatedOutput output = run_emulated(kernel_.program, row_.problem, geometry_, input,
                                         schedule.schedule, {job_.checks, job_.checks});
    if (row_.runs++ == 0) {
      row_.printed = output.result.printed;
    }
    if (job_.profile && !row_.profile) {
      row_.profile = make_emulated_profile(output.result.counts, kernel_.program, kernel_.module,
                                           *kernel_.function);
    }
    for (const emulate::Finding& finding : output.result.findings.all()) {
      add(located(finding, input, schedule));
    }
    if (output.result.finished) {
      compare(input, output);
      compare_schedules(input, schedule, std::move(output.output));
    }
    return output.result.finished;
  }

  [[nodiscard]] EmulatedFinding located(const emulate::Finding& finding, const EmulatedInput& input,
                                        const NamedSchedule& schedule) const {
    const PtxStatement& statement =
        kernel_.function->statements.at(kernel_.program.statements.at(finding.instruction));
    return {emulate::check_of(finding.kind),
            emulate::name_of(finding.kind),
            statement.line,
            statement.text,
            kernel_.module.places.at(statement.place),
            finding.block,
            finding.thread,
            schedule.name,
            input.name,
            finding.text,
            static_cast<std::int64_t>(finding.count)};
  }

  void add(EmulatedFinding finding) {
    const auto known =
        std::find_if(row_.findings.begin(), row_.findings.end(), [&](const EmulatedFinding& other) {
          return other.kind == finding.kind && other.ptx_line == finding.ptx_line;
        });
    if (known == row_.findings.end()) {
      row_.findings.push_back(std::move(finding));
    } else {
      known->count += finding.count;
    }
  }

  void compare(const EmulatedInput& input, const EmulatedOutput& output) {
    const ErrorStats stats =
        compare_outputs(input.name, row_.problem.dtype, output.output, input.exact, input.rounded);
    if (!row_.stats || share_of_limit(stats) > share_of_limit(*row_.stats)) {
      row_.stats = stats;
    }
    if (output.inputs_changed) {
      changed_inputs_ = fmt::format("input {}: Q, K or V was written", input.name);
    }
  }

  void compare_schedules(const EmulatedInput& input, const NamedSchedule& schedule,
                         std::vector<std::uint16_t> output) {
    if (!first_output_) {
      first_output_ = std::move(output);
      return;
    }
    std::int64_t different = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      different += output[i] != (*first_output_)[i] ? 1 : 0;
    }
    if (different > 0) {
      EmulatedFinding finding;
      finding.check = "schedules";
      finding.kind = "schedule_dependent";
      finding.schedule = schedule.name;
      finding.input = input.name;
      finding.text = fmt::format("{} of {} output values are others than with schedule {}",
                                 different, output.size(), job_.schedules.front().name);
      finding.count = 1;
      add(std::move(finding));
    }
  }

  void judge() {
    const auto fault = row_.stats ? find_fault(*row_.stats) : std::nullopt;
    const bool wrong = fault || !changed_inputs_.empty();
    row_.outcome = !row_.findings.empty() ? "flagged" : wrong ? "wrong_result" : "right";
    if (!row_.findings.empty()) {
      const EmulatedFinding& first = row_.findings.front();
      row_.detail = fmt::format("{}: {}", first.kind, first.text);
    } else if (wrong) {
      row_.detail = fault.value_or(changed_inputs_);
    }
  }

  const EmulationJob& job_;
  const EmulatedKernel& kernel_;
  const LaunchGeometry& geometry_;
  EmulatedConfig& row_;
  std::optional<std::vector<std::uint16_t>> first_output_;  ///< of this input's first schedule
  std::string changed_inputs_;
};

void stop(const Outcome& outcome, EmulatedConfig& row) {
  row.outcome = outcome_name(outcome);
  row.detail = outcome_summary(outcome);
}

}  // namespace

EmulatedConfig emulate_config(const EmulationJob& job, const Config& config,
                              const Problem& problem) {
  EmulatedConfig row;
  row.config = short_form(job.family, config);
  row.problem = problem;
  if (const auto obstacle = find_obstacle(job.family, config, problem, job.limits)) {
    stop(*obstacle, row);
    return row;
  }
  const CompileResult compiled = compile_to_ptx(
      with_line_info(compile_request(job.family, config, problem, job.limits.arch, job.limits)),
      job.cache);
  if (const auto* failed = std::get_if<CompileFailed>(&compiled)) {
    stop(*failed, row);
    return row;
  }
  std::optional<EmulatedKernel> kernel;
  try {
    kernel = read_kernel(std::get<Artifact>(compiled), job.family, row.config);
  } catch (const Error& error) {
    row.outcome = "not_covered";
    row.detail = error.what();
    return row;
  }
  const LaunchGeometry geometry = launch_geometry(job.family, config, problem, job.limits);
  Runs(job, *kernel, geometry, row).run_all();
  return row;
}

}  // namespace fatune

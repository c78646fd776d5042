#include "commands/debug/debug_command.hpp"

#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/run/gpu_setup.hpp"
#include "commands/debug/debug_files.hpp"
#include "commands/debug/debug_kernel.hpp"
#include "core/arch.hpp"
#include "debug/cause.hpp"
#include "debug/kernel_values.hpp"
#include "emit/debug_report.hpp"
#include "emit/document/render.hpp"
#include "emit/output_file.hpp"
#include "emulation/finding_groups.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

/// One configuration on one problem, on its way from options to a report.
class Debugging {
 public:
  Debugging(const DebugOptions& options, const Family& family, const Config& config,
            const HeadProblem& head)
      : options_(options),
        family_(family),
        config_(config),
        head_(head),
        inputs_(make_head_inputs(head_, options.init, options.seed)) {
    report_.family = family.name;
    report_.config = short_form(family, config);
    report_.head = head_;
    report_.declares_steps = family.debug.has_value();
    report_.init = input_kind_name(options.init);
    report_.seed = options.seed;
  }

  void run_on(const Target& target) {
    report_.why_not_measured = target.why_not_measured;
    if (target.measured()) {
      run_on_gpu(target);
    } else if (options_.emulate) {
      emulate(target);
    }
  }

  void compare() {
    comparison_ = compare_steps(head_, inputs_, kernel_);
    report_.checks = comparison_.checks;
    if (const StepCheck* const first = first_wrong(comparison_.checks)) {
      report_.likely_cause =
          likely_cause(head_, inputs_, kernel_.value().values, comparison_, *first);
    }
  }

  void write_files(const std::filesystem::path& folder) const {
    write_debug_files(folder, {head_, inputs_, comparison_, kernel_},
                      render(debug_document(report_), OutputFormat::json));
  }

  void set_also_right(std::vector<std::string> problems) {
    report_.also_right = std::move(problems);
  }
  [[nodiscard]] const DebugReport& report() const { return report_; }

 private:
  [[nodiscard]] DebuggedKernel kernel_for(const Target& target) const {
    return {family_, config_, head_, inputs_, target.limits, options_.compile};
  }

  void run_on_gpu(const Target& target) {
    report_.device = target.limits.name;
    const DebugResult result =
        run_kernel(kernel_for(target),
                   gpu_setup(target, target.gpus.front(), options_.target, options_.output));
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      fail(*outcome);
    } else {
      take(std::get<DebugRun>(result));
    }
  }

  void emulate(const Target& target) {
    const EmulatedDebugResult result = emulate_kernel_for_debug(kernel_for(target));
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      fail(*outcome);
    } else if (const auto* not_emulated = std::get_if<NotEmulated>(&result)) {
      report_.why_not_emulated = not_emulated->why;
    } else {
      take(std::get<EmulatedDebug>(result));
    }
  }

  void fail(const Outcome& outcome) {
    report_.failure = DebugFailure{outcome_kind(outcome), outcome_summary(outcome)};
  }

  void take(const DebugRun& run) { kernel_ = read_kernel_values(head_, run.output, run.dump); }

  void take(const EmulatedDebug& shown) {
    report_.emulated = true;
    report_.findings_count = static_cast<std::int64_t>(shown.findings.size());
    if (!shown.findings.empty()) {
      report_.first_finding = findings_summary(shown.findings, shown.groups);
    }
    if (shown.finished) {
      take(shown.run);
    } else {
      report_.failure = DebugFailure{OutcomeKind::flagged, report_.first_finding};
    }
  }

  const DebugOptions& options_;
  const Family& family_;
  const Config& config_;
  HeadProblem head_;
  HeadInputs inputs_;
  std::optional<KernelValues> kernel_;
  Comparison comparison_;
  DebugReport report_;
};

/// Runs the kernel on each problem until it is not right. Returns that one, or the first if all are
/// right.
std::unique_ptr<Debugging> debug_on(const std::vector<HeadProblem>& heads,
                                    const DebugOptions& options, const Family& family,
                                    const Config& config, const Target& target,
                                    Progress& progress) {
  std::unique_ptr<Debugging> first;
  std::vector<std::string> right;
  for (const HeadProblem& head : heads) {
    progress.begin_problem(head.problem());
    auto next = std::make_unique<Debugging>(options, family, config, head);
    next->run_on(target);
    next->compare();
    progress.step();
    if (!is_right(next->report())) {
      next->set_also_right(std::move(right));
      return next;
    }
    right.push_back(describe(head.problem()));
    first = first ? std::move(first) : std::move(next);
  }
  right.erase(right.begin());  // the report is about it
  first->set_also_right(std::move(right));
  return first;
}

}  // namespace

ExitCode debug(const DebugOptions& options) {
  const KernelSet kernels = choose_kernels(options.kernels, {options.config});
  const Family& family = kernels.family();
  const Config config = parse_configs(kernels.families, {options.config}, options.problems).front();
  const Target target =
      choose_targets(options.target, kernels.tree, kernels.families.all()).front();
  const std::vector<HeadProblem> heads = head_problems(family, config, options, target.limits);
  if (options.out_dir) {
    check_output_file(*options.out_dir / kDebugJson);
  }
  if (!target.measured() && options.emulate) {
    print_note(options.output, fmt::format("NOT RUN ON A GPU: {}; emulating on the CPU, for {}",
                                           target.why_not_measured, arch_name(target.limits.arch)));
  }
  Progress progress(options.output, heads.size());
  const auto debugging = debug_on(heads, options, family, config, target, progress);
  progress.finish();
  if (options.out_dir) {
    debugging->write_files(*options.out_dir);
  }
  print_document(debug_document(debugging->report()), options.output);
  return is_right(debugging->report()) || has_not_run(debugging->report())
             ? ExitCode::ok
             : ExitCode::failed_outcomes;
}

}  // namespace fatune

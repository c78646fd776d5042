#include "app/commands/debug_command.hpp"

#include <variant>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/console/console.hpp"
#include "app/emulation/debug_files.hpp"
#include "app/emulation/debug_kernel.hpp"
#include "app/run/gpu_setup.hpp"
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

/// One configuration on its way from options to a report.
class Debugging {
 public:
  explicit Debugging(const DebugOptions& options)
      : options_(options),
        kernels_(choose_kernels(options.kernels, {options.config})),
        config_(parse_configs(kernels_.families, {options.config}, options.problems).front()),
        head_(head_problem(kernels_.family(), config_, options.problems, options.seq_len,
                           options.seq_blocks)),
        inputs_(make_head_inputs(head_, options.init, options.seed)) {
    report_.family = kernels_.family().name;
    report_.config = short_form(kernels_.family(), config_);
    report_.head = head_;
    report_.declares_steps = kernels_.family().debug.has_value();
    report_.init = input_kind_name(options.init);
    report_.seed = options.seed;
  }

  void run_on(const Target& target) {
    report_.why_not_measured = target.why_not_measured;
    if (target.measured()) {
      run_on_gpu(target);
    } else if (options_.emulate) {
      print_note(options_.output,
                 fmt::format("NOT RUN ON A GPU: {}; emulating on the CPU, for {}",
                             target.why_not_measured, arch_name(target.limits.arch)));
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

  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }
  [[nodiscard]] const DebugReport& report() const { return report_; }

 private:
  [[nodiscard]] DebuggedKernel kernel_for(const Target& target) const {
    return {kernels_.family(), config_, head_, inputs_, target.limits, options_.compile};
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
  KernelSet kernels_;
  Config config_;
  HeadProblem head_;
  HeadInputs inputs_;
  std::optional<KernelValues> kernel_;
  Comparison comparison_;
  DebugReport report_;
};

}  // namespace

ExitCode debug(const DebugOptions& options) {
  Debugging debugging(options);
  const Target target = choose_targets(options.target, debugging.kernels().tree,
                                       debugging.kernels().family().min_arch)
                            .front();
  if (options.out_dir) {
    check_output_file(*options.out_dir / kDebugJson);
  }
  debugging.run_on(target);
  debugging.compare();
  if (options.out_dir) {
    debugging.write_files(*options.out_dir);
  }
  print_document(debug_document(debugging.report()), options.output);
  return is_right(debugging.report()) || has_not_run(debugging.report())
             ? ExitCode::ok
             : ExitCode::failed_outcomes;
}

}  // namespace fatune

#include "proof/emulate_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "emulator/ptx/data_flow.hpp"
#include "model/error_rule.hpp"
#include "model/quantization_error.hpp"
#include "proof/emulated_launch.hpp"
#include "proof/findings.hpp"
#include "proof/kernel_counts.hpp"

namespace fatune {
namespace {

// The number of launches of each run if the kernel changes state that later launches see.
constexpr int kLaunches = 3;

double share_of_limit(const ErrorStats& stats) {
  const bool has_wrong_row = !stats.is_of_o() && stats.mismatched > 0;
  if (stats.not_finite > 0 || has_wrong_row) {
    return HUGE_VAL;
  }
  const double greatest = std::max(stats.max_abs_error, stats.max_abs_difference);
  return stats.limit > 0.0 ? greatest / stats.limit : 0.0;  // no limit: not compared
}

bool is_worse(const ErrorStats& stats, const ErrorStats& worst) {
  return share_of_limit(stats) > share_of_limit(worst);
}

bool has_row_values(const EmulatedLaunch& launch) {
  const std::vector<KernelBuffer>& buffers = launch.geometry.arguments.buffers;
  return std::ranges::any_of(buffers, [](const KernelBuffer& buffer) {
    return find_enum<RowValue>(buffer.output).has_value();
  });
}

/// Runs one configuration on all inputs and schedules.
class Runs {
 public:
  Runs(const EmulationCase& of, const EmulatedKernel& kernel, const EmulationSettings& settings,
       EmulatedConfig& row)
      : of_(of),
        kernel_(kernel),
        settings_(settings),
        row_(row),
        checks_{is_wanted("init"), is_wanted("race")} {}

  /// Returns false if the blocks are not those of the compared head.
  [[nodiscard]] bool run_all(EmulatedInputs& inputs) {
    bool finished = true;
    const auto* reference =
        has_row_values(of_.launch) ? inputs.row_references(of_.launch.on).data() : nullptr;
    for (const EmulatedInput& input : inputs.of(of_.launch.on)) {
      input_ = &input;
      first_output_.reset();
      worst_.clear();
      reference_ = reference == nullptr ? nullptr : reference++;
      for (const NamedSchedule& schedule : settings_.schedules) {
        schedule_ = &schedule;
        finished = finished && run();
      }
      take_worst_of_input();
    }
    judge();
    return blocks_fit_;
  }

 private:
  /// Returns false if no further run is to follow: the kernel did not finish (one that hangs is not
  /// run again), or its blocks are not those of the compared head.
  bool run() {
    EmulatedRun once{schedule_->schedule, checks_, settings_.stopped};
    EmulatedOutput output = run_naming_ends(kernel_.program, of_.launch, input_->tensors, once);
    checks_ = once.checks;
    if (row_.runs++ == 0) {
      row_.printed = output.result.printed;
    }
    if (settings_.profile && !row_.profile) {
      row_.profile = make_emulated_profile(output.result.counts, kernel_.program, kernel_.module,
                                           *kernel_.function, kernel_.source);
    }
    if (settings_.count_work && row_.runs == 1) {
      row_.work = count_work(output.result.counts, kernel_.program, *kernel_.function);
    }
    add_all(output.result);
    limit_ = output.result.limit;
    if (row_.runs == 1 && checks_.init) {
      add_undefined_reads(output.result.counts);
    }
    if (output.result.finished && !output.blocks_fit) {
      blocks_fit_ = false;
      return false;
    }
    bool finished = output.result.finished;
    if (finished) {
      const bool right = compare(output);
      if (output.state != emulate::loaded_state(kernel_.program) || output.kept_changed) {
        finished = launch_again({output.state, output.kept}, right);
      }
      compare_schedules({std::move(output.output), std::move(output.further)});
    }
    return finished;
  }

  /// The state that a launch leaves to the next.
  struct State {
    emulate::ModuleState module;
    KeptWorkspaces workspaces;
  };

  /// Launches a kernel again that has changed variables of its module, or workspaces that are never
  /// cleared. `state` is what the first launch left, and `right` says whether its output was right.
  /// The later launches must be right exactly if the first was. They run without checks, since the
  /// first launch ran with them. Returns false if a launch does not finish.
  bool launch_again(State state, bool right) {
    for (int launch = 2; launch <= kLaunches; ++launch) {
      EmulatedOutput output = run_emulated(kernel_.program, of_.launch, input_->tensors,
                                           {schedule_->schedule,
                                            {false, false},
                                            settings_.stopped,
                                            std::nullopt,
                                            std::move(state.module),
                                            std::move(state.workspaces)});
      if (!output.result.finished) {
        add_all(output.result);
        limit_ = output.result.limit;
        return false;
      }
      if (compare(output) != right && is_wanted("launches")) {
        add(of_outputs(
            "launches", "launch_dependent",
            fmt::format("the output is {} in the first launch, {} in launch {}: the kernel keeps "
                        "state between launches",
                        right ? "right" : "wrong", right ? "wrong" : "right", launch)));
        return true;
      }
      state = {std::move(output.state), std::move(output.kept)};
    }
    return true;
  }

  void add_all(const emulate::LaunchResult& result) {
    for (const emulate::Finding& finding : result.findings.all()) {
      if (!result.finished || is_wanted(emulate::check_of(finding.kind))) {
        add(of_run(located(kernel_, finding)));
      }
    }
  }

  [[nodiscard]] bool is_wanted(std::string_view check) const {
    return is_among(check, settings_.checks);
  }

  /// Adds findings for statements that ran and read registers which nothing can have written.
  void add_undefined_reads(const std::vector<emulate::InstructionCounts>& counts) {
    std::map<std::size_t, std::string> registers;  // keyed by statement
    for (const UndefinedRead& read : find_undefined_reads(*kernel_.function)) {
      std::string& names = registers[read.statement];
      names += (names.empty() ? "" : ", ") + kernel_.function->registers.at(read.reg);
    }
    for (const auto& [statement, names] : registers) {
      const auto& all = kernel_.program.statements;
      const auto at = std::ranges::find(all, statement);
      const auto index = static_cast<std::size_t>(at - all.begin());
      if (at == all.end() || counts[index].warps == 0) {
        continue;
      }
      emulate::Finding read;
      read.kind = emulate::FindingKind::uninitialised;
      read.instruction = index;
      read.text = fmt::format("reads {}, which nothing before it writes", names);
      read.count = counts[index].warps;
      EmulatedFinding finding = of_run(located(kernel_, read));
      finding.block = finding.thread = EmulatedFinding::kNobody;
      add(std::move(finding));
    }
  }

  [[nodiscard]] EmulatedFinding of_run(EmulatedFinding finding) const {
    finding.schedule = schedule_->name;
    finding.input = input_->name;
    return finding;
  }

  void add(EmulatedFinding finding) {
    const auto known = std::ranges::find_if(row_.findings, [&](const EmulatedFinding& other) {
      return other.kind == finding.kind && other.ptx_line == finding.ptx_line;
    });
    if (known == row_.findings.end()) {
      row_.findings.push_back(std::move(finding));
    } else {
      known->count += finding.count;
    }
  }

  /// Returns whether the outputs are right, and keeps the worst errors of the input.
  bool compare(const EmulatedOutput& output) {
    const EmulatedInput& input = *input_;
    const Problem part = compared_part(of_.launch.on);
    std::vector<ErrorStats> all{
        compare_outputs(input.name, part, output.output, input.exact, input.rounded, input.units)};
    if (!input.unrounded.empty()) {
      set_quantization_error(
          compare_unrounded(output.output, output_dtype(part), input.unrounded, input.units),
          all.front());
    }
    for (const FurtherOutput& further : output.further) {
      all.push_back(compare_further(input.name, of_.launch.on, further, reference_));
    }
    const bool right = !output.inputs_changed && std::none_of(all.begin(), all.end(), find_fault);
    if (settings_.count_rows && (worst_.empty() || is_worse(all.front(), worst_.front()))) {
      worst_rows_ =
          compare_rows(all.front(), part, output.output, input.exact, input.rounded, input.units);
    }
    keep_worst(std::move(all));
    if (output.inputs_changed) {
      changed_inputs_ = fmt::format("input {}: wrote into its inputs", input.name);
    }
    return right;
  }

  void keep_worst(std::vector<ErrorStats> all) {
    if (worst_.empty()) {
      worst_ = std::move(all);
      return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_worse(all[i], worst_[i])) {
        worst_[i] = std::move(all[i]);
      }
    }
  }

  void take_worst_of_input() {
    if (settings_.count_rows && !worst_.empty()) {
      row_.rows.push_back(worst_rows_);
    }
    for (ErrorStats& stats : worst_) {
      if (!row_.stats || is_worse(stats, *row_.stats)) {
        row_.stats = stats;
      }
      row_.inputs.push_back(std::move(stats));
    }
  }

  /// The outputs of one run.
  struct Outputs {
    std::vector<std::uint16_t> o;
    std::vector<FurtherOutput> further;
  };

  void compare_schedules(Outputs outputs) {
    if (!first_output_) {
      first_output_ = std::move(outputs);
      return;
    }
    std::int64_t different = 0;
    for (std::size_t i = 0; i < outputs.o.size(); ++i) {
      different += outputs.o[i] != first_output_->o[i] ? 1 : 0;
    }
    add_schedule_dependent("", different, std::ssize(outputs.o));
    for (std::size_t i = 0; i < outputs.further.size(); ++i) {
      const FurtherOutput& output = outputs.further[i];
      add_schedule_dependent(output.name + ": ", count_different(output, first_output_->further[i]),
                             output.elements());
    }
  }

  void add_schedule_dependent(const std::string& output, std::int64_t different,
                              std::int64_t elements) {
    if (different > 0 && is_wanted("schedules")) {
      add(of_outputs("schedules", "schedule_dependent",
                     fmt::format("{}{} of {} output values differ from those with schedule {}",
                                 output, different, elements, settings_.schedules.front().name)));
    }
  }

  /// Makes a finding about outputs. It has no instruction.
  [[nodiscard]] EmulatedFinding of_outputs(const char* check, const char* kind,
                                           std::string text) const {
    EmulatedFinding finding;
    finding.check = check;
    finding.kind = kind;
    finding.text = std::move(text);
    finding.count = 1;
    return of_run(std::move(finding));
  }

  void judge() {
    const auto fault = row_.stats ? find_fault(*row_.stats) : std::nullopt;
    const bool wrong = fault || !changed_inputs_.empty();
    const bool stopped = settings_.stopped && settings_.stopped();
    row_.outcome = !row_.findings.empty() ? OutcomeKind::flagged
                   : wrong                ? OutcomeKind::wrong_result
                   : stopped              ? OutcomeKind::stopped
                   : !limit_.empty()      ? OutcomeKind::not_covered
                                          : OutcomeKind::right;
    row_.groups = group_findings(row_.findings);
    if (!row_.findings.empty()) {
      const EmulatedFinding& first = row_.findings.front();
      row_.detail = fmt::format("{}: {}", first.kind, first.text);
    } else if (wrong) {
      row_.detail = fault.value_or(changed_inputs_);
    } else {
      row_.detail = limit_;
    }
  }

  const EmulationCase& of_;
  const EmulatedKernel& kernel_;
  const EmulationSettings& settings_;
  EmulatedConfig& row_;
  const EmulatedInput* input_ = nullptr;     ///< of this run
  const NamedSchedule* schedule_ = nullptr;  ///< of this run
  const RowReference* reference_ = nullptr;  ///< this input's; null: there are no row values
  std::optional<Outputs> first_output_;      ///< what this input's first schedule gave
  std::vector<ErrorStats> worst_;  ///< the worst of this input's runs: O, then each further output
  RowMismatches worst_rows_;       ///< the rows of the worst run of O, if they are counted
  std::string changed_inputs_;
  std::string limit_;  ///< that ended a run; empty: none did
  emulate::Checks checks_;
  bool blocks_fit_ = true;
};

}  // namespace

NamedSchedule random_schedule(std::uint64_t seed) {
  return {fmt::format("random {}", seed), {emulate::Timing::random, seed}};
}

std::optional<EmulatedConfig> emulate_kernel(const EmulationCase& of,
                                             const EmulationSettings& settings,
                                             EmulatedInputs& inputs) {
  EmulatedConfig row;
  row.config = of.config;
  row.problem = of.launch.on.problem;
  try {
    const EmulatedKernel kernel =
        read_kernel(of.artifact, of.sources, of.config, of.launch.geometry.arguments);
    if (!Runs(of, kernel, settings, row).run_all(inputs)) {
      return std::nullopt;
    }
  } catch (const Error& error) {
    row.outcome = OutcomeKind::not_covered;
    row.detail = error.what();
  }
  return row;
}

std::optional<CountedWork> count_kernel(const EmulationCase& of,
                                        const std::function<bool()>& stopped,
                                        EmulatedInputs& inputs) {
  try {
    const EmulatedKernel kernel =
        read_kernel(of.artifact, of.sources, of.config, of.launch.geometry.arguments);
    const emulate::Schedule late{emulate::Timing::late, inputs.seed()};
    const EmulatedOutput output =
        run_emulated(kernel.program, of.launch, inputs.random_tensors(of.launch.on.problem),
                     {late, {false, false}, stopped});
    return output.result.finished && output.blocks_fit
               ? std::optional(count_work(output.result.counts, kernel.program, *kernel.function))
               : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace fatune

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "choose/tuned_choice.hpp"
#include "cli/subcommands.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "print/export_report.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

struct PredictOptions {
  TunedOptions tuned;
  KernelOptions kernels;
  ProblemOptions problems;
  std::optional<Arch> arch;        ///< predict for the device that stands for it
  std::optional<std::string> gpu;  ///< part of the name of a GPU with tuned problems
  OutputOptions output;
};

std::string gpu_text(const DeviceLimits& gpu) {
  return fmt::format("{} ({})", gpu.name, arch_name(gpu.arch));
}

/// A device, and why it is this one; empty: the user named it.
struct ChosenDevice {
  DeviceLimits limits;
  std::string why;
};

DeviceLimits tuned_gpu(const TunedTable& table, const std::string& name) {
  const auto tuned = mapped(table.gpus, [](const auto& gpu) { return gpu.second; });
  if (auto found = find_device(tuned, name, "--gpu")) {
    return *std::move(found);
  }
  throw Error(ExitCode::usage, fmt::format("nothing was tuned on '{}'", name), "--gpu",
              fmt::format("known: {}; for another GPU of one of their architectures, use --arch",
                          joined(tuned, ", ", gpu_text)));
}

/// Returns the GPU of this machine, else the first one that problems were tuned on.
ChosenDevice gpu_here(const FileTree& tree, const FamilySet& families, const TunedTable& table) {
  const Target target = choose_targets({}, tree, families.all()).front();
  if (target.measured()) {
    return {target.limits, "the GPU of this machine"};
  }
  return {table.gpus.begin()->second,
          "the first GPU that problems were tuned on, since this machine has none that can be used "
          "('fatune doctor' says why); --gpu and --arch name another"};
}

ChosenDevice device_for(const PredictOptions& options, const KernelSet& kernels,
                        const TunedTable& table) {
  if (options.gpu) {
    return {tuned_gpu(table, *options.gpu), {}};
  }
  if (options.arch) {
    return {offline_target(options.arch, kernels.tree, kernels.families.all()).limits, {}};
  }
  return gpu_here(kernels.tree, kernels.families, table);
}

/// Predicts which configuration would be chosen for problems, tuned or not, and how good it is
/// likely to be.
ExitCode predict_choices(const PredictOptions& options) {
  const KernelSet kernels = choose_families(options.kernels);
  TunedTable table = load_tuned(options.tuned, kernels.families);
  const std::vector<Problem> problems = named_problems(options.problems);
  auto [device, why_device] = device_for(options, kernels, table);
  const auto is_needed = [&](const TunedProblem& row) {
    return std::ranges::any_of(
        problems, [&](const Problem& problem) { return is_evidence(table, row, problem, device); });
  };
  const ExportReport known = judge_tuned(table, kernels.families, is_needed);
  const ConfigRules rules = families_say(kernels.families);
  PredictReport report{known, device, std::move(why_device), {}};
  for (const Problem& problem : problems) {
    report.predictions.push_back(
        predict(known.table, known.left_out, problem, report.device, rules));
  }
  print_document(predict_document(report), options.output);
  const bool any = std::ranges::any_of(report.predictions, [](const Prediction& prediction) {
    return prediction.choice.step != ChoiceStep::refused;
  });
  return any ? ExitCode::ok : ExitCode::nothing_ranked;
}

}  // namespace

void add_predict_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "predict", "Say which configuration would be chosen for a problem, tuned or not",
      predict_choices);
  add_tuned_options(sub, options.tuned);
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_value(sub, "--gpu", "NAME",
            "GPU that problems were tuned on, by its name or a part of it, e.g. h200 "
            "(default: that of this machine, else the first)",
            options.gpu)
      ->excludes("--arch")
      ->group(option_group::kDevice);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(The expected regret, and the error of the predicted time, are those of tuned problems that were
left out in turn, whose configuration was chosen in the same way, and which were as far from others.
A problem outside the range that was tuned has none: the output says what is unlike, and how to
measure it (docs/export.md). Exit code 5: nothing is eligible for any of the problems.

Examples:
  fatune predict --seq 3072 --dhead 128 --dtype bf16 --causal
  fatune predict --seq 768,6144 --dhead 64,128 --best results/best_configs.json
  fatune predict --gpu h200 --seq 4096 --dhead 64
  fatune predict --preset llama-3.1-8b --seq 4096 --batch 1 --format json)");
}

}  // namespace fatune

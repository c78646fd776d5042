#include "app/commands/predict_command.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/plan_problems.hpp"
#include "app/choice/target.hpp"
#include "app/console/console.hpp"
#include "app/tuned/load_tuned.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "emit/predict_report.hpp"
#include "tuned/eligibility.hpp"

namespace fatune {
namespace {

const DeviceLimits& tuned_gpu(const TunedTable& table, const std::string& name) {
  const auto found =
      std::ranges::find(table.gpus, name, [](const auto& gpu) { return gpu.first.name; });
  if (found == table.gpus.end()) {
    throw Error(
        ExitCode::usage, fmt::format("nothing was tuned on '{}'", name), "--gpu",
        "known: " + joined(table.gpus, ", ", [](const auto& gpu) { return gpu.first.name; }));
  }
  return found->second;
}

/// Returns the GPU of this machine, else the first one that problems were tuned on.
DeviceLimits gpu_here(const FileTree& tree, const FamilySet& families, const TunedTable& table) {
  const Target target = choose_targets({}, tree, families.all()).front();
  return target.measured() ? target.limits : table.gpus.begin()->second;
}

DeviceLimits device_for(const PredictOptions& options, const KernelSet& kernels,
                        const TunedTable& table) {
  if (options.gpu) {
    return tuned_gpu(table, *options.gpu);
  }
  return options.arch
             ? offline_target(options.arch, kernels.tree, kernels.families.all()).limits
             : gpu_here(kernels.tree, kernels.families, table);
}

}  // namespace

ExitCode predict_choices(const PredictOptions& options) {
  const KernelSet kernels = choose_families(options.kernels);
  const ExportReport known =
      judge_tuned(load_tuned(options.tuned, kernels.families), kernels.families);
  const WhyNot why_not = families_say(kernels.families);
  PredictReport report{known, device_for(options, kernels, known.table), {}};
  for (const Problem& problem : named_problems(options.problems)) {
    report.predictions.push_back(
        predict(known.table, known.left_out, problem, report.device, why_not));
  }
  print_document(predict_document(report), options.output);
  const bool any = std::ranges::any_of(report.predictions, [](const Prediction& prediction) {
    return prediction.choice.step != ChoiceStep::refused;
  });
  return any ? ExitCode::ok : ExitCode::nothing_ranked;
}

}  // namespace fatune

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/problems.hpp"
#include "plan/planner.hpp"
#include "plan/problem_plan.hpp"

namespace fatune {

/// A family and the plan of its configurations, which copies share. The family must outlive it.
struct FamilyPlan {
  FamilyPlan() = default;
  FamilyPlan(const Family* of, Plan made)
      : family(of), plan(std::make_shared<const Plan>(std::move(made))) {}

  const Family* family = nullptr;
  std::shared_ptr<const Plan> plan;
};

/// Returns every problem that the options describe: each sequence length for each dtype and head
/// dimension of a kept configuration. The configurations of all families for one problem are tried
/// together, in the families' order. Throws Error(usage) for extents out of range, and if two
/// families have a configuration with the same short form, because nothing printed would tell them
/// apart.
[[nodiscard]] std::vector<ProblemPlan> plan_problems(const std::vector<FamilyPlan>& plans,
                                                     const ProblemOptions& options);

/// Prints a note that names the types and head dimensions that the options ask for and no problem
/// has: no configuration is for them.
void say_left_out(const ProblemOptions& options, const std::vector<ProblemPlan>& problems,
                  const OutputOptions& output);

/// Drops the configurations of each problem that the spaces' rules exclude on it, on a device with
/// these limits. These are the rules that need a problem or a device.
void prune_problems(const std::vector<FamilyPlan>& plans, const DeviceLimits& limits,
                    std::vector<ProblemPlan>& problems);

/// Adds to each problem the dropped configurations that an audit tries. The family must be able to
/// build them. `seed` selects among the configurations of a rule, and the rules take turns. Call it
/// after prune_problems(), whose dropped configurations may be tried too.
void choose_audited(const std::vector<FamilyPlan>& plans, const AuditOptions& audit,
                    const ProblemOptions& options, std::uint64_t seed,
                    std::vector<ProblemPlan>& problems);

/// The greatest of the lengths that --seq-lens gives, in place of --seq. Nothing: none are given.
[[nodiscard]] std::optional<std::int64_t> packed_seq_len(const ProblemOptions& options);

/// Returns the first sequence length that the options name, else packed_seq_len(), or 4096. It is
/// for commands that compile and do not run.
[[nodiscard]] std::int64_t first_seq_len(const ProblemOptions& options);

/// Returns every combination of the named lengths (else first_seq_len()), types (else FP16) and
/// head dimensions (else 128), independent of any configurations. Throws Error(usage) for extents
/// out of range.
[[nodiscard]] std::vector<Problem> named_problems(const ProblemOptions& options);

/// Whether a problem of an earlier run matches the options. Unset options match anything.
[[nodiscard]] bool is_asked_for(const Problem& problem, const ProblemOptions& options);

/// The values that the options give to parameters bound to the problem.
[[nodiscard]] Binding binding_of(const ProblemOptions& options);

/// Parses configurations as typed, for these problems. Throws Error(usage) as
/// parse_configs(families, texts), and if a configuration's dtype or head dimension is not among
/// those that the options name.
[[nodiscard]] std::vector<Config> parse_configs(const FamilySet& families,
                                                const std::vector<std::string>& texts,
                                                const ProblemOptions& problems);

/// Returns the named configurations, else those that the chosen space keeps, and then sets `space`
/// to its key. Throws as parse_configs(), choose_space() and, if none is kept,
/// fail_without_configs().
[[nodiscard]] std::vector<Config> choose_configs(const KernelSet& kernels,
                                                 const KernelOptions& options,
                                                 const std::vector<std::string>& named,
                                                 const ProblemOptions& problems,
                                                 std::string& space);

/// Returns the problem of one length for the dtype and d_head of a configuration. A family without
/// such a parameter gets the options' first value, else FP16 and 128. Without --dhead, d_head_v is
/// the one that the family declares for the configuration, if it does.
[[nodiscard]] Problem problem_for(const Family& family, const Config& config,
                                  const ProblemOptions& options, std::int64_t seq_len);

}  // namespace fatune

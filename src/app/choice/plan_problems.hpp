#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/option_groups.hpp"
#include "attention/problem.hpp"
#include "core/config.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"

namespace fatune {

/// A family with what is to be tried of it; the family must outlive it.
struct FamilyPlan {
  const Family* family = nullptr;
  Plan plan;
};

/// Every problem that the options describe: for each dtype and head dimension that a kept
/// configuration has, each sequence length. The families' configurations for one problem are
/// tried together, in the families' order. Error(usage) for extents out of range, and when two of
/// them have the same short form: nothing that is printed would tell them apart.
[[nodiscard]] std::vector<ProblemPlan> plan_problems(const std::vector<FamilyPlan>& plans,
                                                     const ProblemOptions& options);

/// Drops from each problem what the spaces' rules drop on it, on a device of these limits: rules
/// that wait for a problem or a device.
void prune_problems(const std::vector<FamilyPlan>& plans, const DeviceLimits& limits,
                    std::vector<ProblemPlan>& problems);

/// Adds to each problem those of the dropped configurations that an audit tries: the family must be
/// able to build them; `seed` chooses among those of a rule, and each rule gets its turn. Comes
/// after prune_problems(), whose drops it may try too.
void choose_audited(const std::vector<FamilyPlan>& plans, const AuditOptions& audit,
                    const ProblemOptions& options, std::uint64_t seed,
                    std::vector<ProblemPlan>& problems);

/// The first length that the options name; 4096 when they name none: for what compiles and does not
/// run.
[[nodiscard]] std::int64_t first_seq_len(const ProblemOptions& options);

/// Every combination of what the options name, whatever configurations there are: of lengths (else
/// first_seq_len()), types (else FP16) and head dimensions (else 128). Error(usage) for extents out
/// of range.
[[nodiscard]] std::vector<Problem> named_problems(const ProblemOptions& options);

/// Whether a problem of an earlier run is one that the options name; what they leave open may be
/// anything.
[[nodiscard]] bool is_asked_for(const Problem& problem, const ProblemOptions& options);

/// The values that the options give to parameters bound to the problem.
[[nodiscard]] Binding binding_of(const ProblemOptions& options);

/// Configurations as typed, for these problems. Error(usage) as parse_configs(families, texts), and
/// when a configuration's dtype or head dimension is not among those that the options name.
[[nodiscard]] std::vector<Config> parse_configs(const FamilySet& families,
                                                const std::vector<std::string>& texts,
                                                const ProblemOptions& problems);

/// The configurations that are named, else those that the chosen space keeps; then `space` becomes
/// its key. Error as parse_configs() and choose_space().
[[nodiscard]] std::vector<Config> choose_configs(const KernelSet& kernels,
                                                 const KernelOptions& options,
                                                 const std::vector<std::string>& named,
                                                 const ProblemOptions& problems,
                                                 std::string& space);

/// The problem of one length for the dtype and d_head of a configuration; a family without such
/// a parameter gets the options' first value, else FP16 and 128.
[[nodiscard]] Problem problem_for(const Family& family, const Config& config,
                                  const ProblemOptions& options, std::int64_t seq_len);

}  // namespace fatune

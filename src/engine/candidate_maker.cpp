#include "engine/candidate_maker.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/cubin_elf.hpp"
#include "model/flop.hpp"
#include "plan/estimate_rule.hpp"
#include "plan/planner.hpp"
#include "race/estimate.hpp"

namespace fatune {
namespace {

class WorkCount {
 public:
  WorkCount(const Family& family, const Problem& problem, const DeviceLimits& limits)
      : family_(family), problem_(problem), limits_(limits) {}

  [[nodiscard]] KernelWork of(const Result& result, const LaunchGeometry& geometry,
                              const KnownCode& code) const {
    const auto heads = static_cast<double>(problem_.batch * problem_.heads);
    KernelWork work;
    work.blocks = block_count(geometry);
    work.threads_per_block = result.threads_per_block;
    work.blocks_per_sm = result.blocks_per_sm;
    const std::optional<double> tensor_flop = quantity(result.config, "tensor_flop");
    if (tensor_flop || code.uses_tensor_cores) {
      work.tensor_flop = tensor_flop.value_or(literature_flop(problem_));
    } else {
      work.fp32_flop = literature_flop(problem_);
    }
    work.warpgroup_flop =
        std::min(work.tensor_flop, quantity_or(result.config, "warpgroup_flop", 0.0));
    work.exponentials = quantity_or(result.config, "exponentials",
                                    static_cast<double>(problem_.heads) * visible_pairs(problem_));
    work.smem_traffic_bytes = quantity_or(result.config, "smem_traffic_bytes", 0.0);
    work.device_memory_bytes = device_memory_bytes();
    work.spill_bytes = spill_bytes(result, heads, static_cast<double>(work.blocks));
    work.counted = code.counted;
    return work;
  }
  [[nodiscard]] ModelledWork of(TimeModel model) const {
    return {model.launch_clocks, model.tile_clocks, model.step_clocks, std::move(model.schedule),
            device_memory_bytes()};
  }

 private:
  [[nodiscard]] std::optional<double> quantity(const Config& config, const char* name) const {
    return find_quantity(family_, config, problem_, limits_, name);
  }
  [[nodiscard]] double quantity_or(const Config& config, const char* name, double otherwise) const {
    return quantity(config, name).value_or(otherwise);
  }

  /// Q, K and V read once, O written once; of K and V with lengths, the rows that exist.
  [[nodiscard]] double device_memory_bytes() const {
    if (!problem_.seq_lens_kv.empty()) {
      return needed_bytes(problem_);
    }
    double bytes = 0.0;
    for (const TensorRole role : kTensorRoles) {
      bytes += static_cast<double>(tensor_bytes(problem_, role));
    }
    return bytes;
  }

  [[nodiscard]] double spill_bytes(const Result& result, double heads, double blocks) const {
    const double kv_steps = heads * quantity_or(result.config, "kv_steps", blocks / heads);
    const ResourceFacts facts = result.facts.value_or(ResourceFacts{});
    const auto bytes = static_cast<double>(facts.spill_load_bytes + facts.spill_store_bytes);
    return bytes * result.threads_per_block * kv_steps;
  }

  const Family& family_;
  const Problem& problem_;
  const DeviceLimits& limits_;
};

/// The launch on a device of `sm_count` SMs. Empty: the family's expressions do not allow for so
/// many, or for the problem.
std::optional<LaunchGeometry> launch_on(const Family& family, const Config& config,
                                        const Problem& problem, DeviceLimits limits, int sm_count) {
  limits.sm_count = sm_count;
  try {
    return launch_geometry(family, config, problem, limits);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The launch on a device that has room for all blocks at once; nothing if there is none.
std::optional<LaunchGeometry> unlimited_launch(const Family& family, const Config& config,
                                               const Problem& problem, const DeviceLimits& limits) {
  constexpr int kManySms = 1 << 22;
  auto launch = launch_on(family, config, problem, limits, kManySms);
  const auto on_more = launch_on(family, config, problem, limits, 2 * kManySms);
  return launch && on_more && launch->grid == on_more->grid ? std::move(launch) : std::nullopt;
}

double time_or_endless_us(const Result& result) {
  return is_ranked(result.outcome) ? ranked_us(result.outcome)
                                   : std::numeric_limits<double>::infinity();
}

/// The seconds that the result's samples took on the GPU, without those of its verification.
double sampled_s(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr) {
    return 0.0;
  }
  const std::vector<double>& samples_us = measured->timing.samples_us;
  return 1e-6 * std::accumulate(samples_us.begin(), samples_us.end(), 0.0);
}

/// Extrapolates a sum over the configurations tried to all that the rule dropped.
double extrapolate(double sum, const RuleAudit& audit) {
  return sum * static_cast<double>(audit.pruned) / static_cast<double>(audit.audited);
}

RuleAudit audit_rule(const std::string& rule, std::int64_t pruned, const ProblemReport& report) {
  RuleAudit audit;
  audit.rule = rule;
  audit.pruned = pruned;
  double compile_ms = 0.0;
  double measure_s = 0.0;
  const Result* best = nullptr;
  for (const Result& result : report.audited) {
    if (result.pruned_by == rule) {
      ++audit.audited;
      compile_ms += result.compile_ms;
      measure_s += sampled_s(result);
      best = best == nullptr && is_ranked(result.outcome) ? &result : best;
    }
  }
  if (audit.audited > 0) {
    audit.saved_compile_s = extrapolate(1e-3 * compile_ms, audit);
    audit.saved_measure_s = extrapolate(measure_s, audit);
  }
  if (best != nullptr && !report.ranking.empty()) {
    audit.best_config = best->short_form;
    const double winner_us = ranked_us(report.ranking.front().outcome);
    audit.gain_percent = 100.0 * (winner_us / ranked_us(best->outcome) - 1.0);
  }
  return audit;
}

bool is_same_code(const CompileRequest& a, const CompileRequest& b) {
  return a.sources == b.sources && a.defines == b.defines && a.options == b.options &&
         a.entry_point == b.entry_point;
}

}  // namespace

LaunchGeometry spread_launch(const Family& family, const Config& config, const Problem& problem,
                             const DeviceLimits& limits, const LaunchGeometry& launch) {
  LaunchGeometry spread = launch;
  if (const auto unlimited = unlimited_launch(family, config, problem, limits)) {
    spread.grid = unlimited->grid;
  }
  return spread;
}

std::optional<std::int64_t> count_tiles(const Family& family, const Config& config, Problem problem,
                                        const DeviceLimits& limits) {
  problem.seq_len_kv = 1;
  problem.seq_lens_kv.clear();
  const auto launch = unlimited_launch(family, config, problem, limits);
  return launch ? std::optional(block_count(*launch)) : std::nullopt;
}

Estimated estimate_result(const Family& family, const Result& result,
                          const LaunchGeometry& geometry, const Problem& problem,
                          const DeviceLimits& limits, const SmRates& rates, const KnownCode& code) {
  const WorkCount work(family, problem, limits);
  if (auto model = time_model(family, result.config, problem, limits)) {
    return estimate(work.of(*std::move(model)), limits);
  }
  const LaunchGeometry spread = spread_launch(family, result.config, problem, limits, geometry);
  Estimated estimated = estimate(work.of(result, spread, code), limits, rates);
  if (!code.counted && !find_quantity(family, result.config, problem, limits, "tensor_flop")) {
    estimated.from = EstimateSource::problem;  // which alone tells how much it computes
  }
  return estimated;
}

bool uses_tensor_cores(std::string_view ptx) {
  constexpr std::array<std::string_view, 3> kProducts{"mma.sync", "mma_async", "tcgen05.mma"};
  return std::ranges::any_of(kProducts, [&](std::string_view product) {
    return ptx.find(product) != std::string_view::npos;
  });
}

Guess guess(const Family& family, const Result& result, const LaunchGeometry& geometry,
            const Problem& problem, const DeviceLimits& limits, const SmRates& rates) {
  constexpr int kTypicalRegisters = 160;
  const auto& block = geometry.block;
  Result guessed = result;
  guessed.threads_per_block = static_cast<int>(block[0] * block[1] * block[2]);
  guessed.blocks_per_sm =
      std::max(1, blocks_per_sm(limits, guessed.threads_per_block, kTypicalRegisters,
                                geometry.dynamic_smem_bytes));
  return {estimate_result(family, guessed, geometry, problem, limits, rates),
          guessed.blocks_per_sm};
}

std::optional<Outcome> find_obstacle(const Family& family, const Config& config,
                                     const Problem& problem, const DeviceLimits& limits) {
  if (auto invalid = check_valid(family, config, &problem, &limits)) {
    return *std::move(invalid);
  }
  if (auto unlaunchable = check_limits(family, config, problem, limits)) {
    return *std::move(unlaunchable);
  }
  return std::nullopt;
}

int resident_blocks(const Artifact& artifact, const LaunchGeometry& geometry,
                    const DeviceLimits& limits) {
  return blocks_per_sm(limits, static_cast<int>(thread_count(geometry)),
                       artifact.facts.registers_per_thread,
                       geometry.dynamic_smem_bytes + artifact.facts.static_smem_bytes);
}

std::optional<Unlaunchable> add_artifact(const Artifact& artifact, const LaunchGeometry& geometry,
                                         const DeviceLimits& limits, Result& result) {
  result.facts = artifact.facts;
  result.dynamic_smem_bytes = geometry.dynamic_smem_bytes;
  result.threads_per_block = static_cast<int>(thread_count(geometry));
  result.blocks_per_sm = resident_blocks(artifact, geometry, limits);
  result.compile_ms = artifact.compile_ms;
  result.from_cache = artifact.from_cache;
  result.artifact_key = artifact.key;
  if (auto mismatch = argument_mismatch(artifact, geometry.arguments)) {
    result.blocks_per_sm = 0;
    return Unlaunchable{*std::move(mismatch)};
  }
  if (result.blocks_per_sm > 0) {
    return std::nullopt;
  }
  return Unlaunchable{fmt::format(
      "no SM of {} holds a block of {} threads with {} registers each and {} bytes of shared "
      "memory (limits: {} registers, {} bytes)",
      limits.name, result.threads_per_block, artifact.facts.registers_per_thread,
      geometry.dynamic_smem_bytes + artifact.facts.static_smem_bytes, limits.registers_per_sm,
      limits.smem_per_block_optin_bytes)};
}

std::optional<Serialized> find_serialization(const ResourceFacts& facts) {
  std::vector<AssemblerNote> losses = facts.notes;
  std::erase_if(losses, [](const AssemblerNote& note) { return !note.loses_speed; });
  return losses.empty() ? std::nullopt : std::optional(Serialized{notes_text(losses)});
}

void add_audit(const ProblemPlan& plan, ProblemReport& report) {
  std::ranges::stable_sort(report.audited, [](const auto& a, const auto& b) {
    return time_or_endless_us(a) < time_or_endless_us(b);
  });
  for (Result& result : report.audited) {
    result.rank = 0;
    result.tie_group = 0;
  }
  for (const auto& [rule, pruned] : plan.pruned_by_rule) {
    report.audit.push_back(audit_rule(rule, pruned, report));
  }
}

CandidateMaker::Prepared CandidateMaker::prepare(const Config& config) const {
  const Family& family = families_.of(config);
  Prepared prepared{make_result(family, config), std::nullopt};
  prepared.result.total_flop = find_quantity(family, config, problem_, limits_, "total_flop");
  if (auto obstacle = find_obstacle(family, config, problem_, limits_)) {
    prepared.result.outcome = *std::move(obstacle);
  } else {
    prepared.geometry = launch_geometry(family, config, problem_, limits_);
  }
  return prepared;
}

double CandidateMaker::guess_us(const Config& config) {
  const Prepared& prepared = guessed_.insert_or_assign(config, prepare(config)).first->second;
  return prepared.geometry ? guess_of(prepared).estimate.estimate_us : 0.0;
}

std::variant<Candidate, Result> CandidateMaker::make(const Proposal& proposal) {
  const Config& config = proposal.config;
  auto guessed = guessed_.extract(config);
  Prepared prepared = guessed ? std::move(guessed.mapped()) : prepare(config);
  prepared.result.pruned_by = proposal.pruned_by;
  prepared.result.proposed_by = proposal.proposed_by;
  prepared.result.proposal = ++proposals_;
  if (!prepared.geometry) {
    return std::move(prepared.result);
  }
  const Family& family = families_.of(config);
  Candidate candidate{std::move(prepared.result),
                      *prepared.geometry,
                      launch_geometry(family, config, probe_, limits_),
                      std::nullopt,
                      std::nullopt,
                      nullptr};
  if (part_) {
    candidate.part_geometry = launch_geometry(family, config, *part_, limits_);
  }
  if (has_small_launch(family, config)) {
    candidate.small_geometry = launch_geometry(family, config, small_, limits_);
  }
  return candidate;
}

Result CandidateMaker::make_pruned(const PrunedConfig& pruned) const {
  Result result = make_result(families_.of(pruned.config), pruned.config);
  result.outcome = pruned.why;
  return result;
}

CompileRequest CandidateMaker::request(const Config& config) const {
  return compile_request(families_.of(config), config, problem_, limits_.arch, limits_);
}

void CandidateMaker::finish_launch(Candidate& candidate) const {
  const Config& config = candidate.result.config;
  const Family& family = families_.of(config);
  const ResourceFacts* facts = &candidate.artifact->facts;
  candidate.geometry = launch_geometry(family, config, problem_, limits_, facts);
  candidate.probe_geometry = launch_geometry(family, config, probe_, limits_, facts);
  if (part_) {
    candidate.part_geometry = launch_geometry(family, config, *part_, limits_, facts);
  }
  if (candidate.small_geometry) {
    candidate.small_geometry = launch_geometry(family, config, small_, limits_, facts);
  }
}

/// Whether the configuration can run on the small problem with the machine code for the problem
/// itself.
bool CandidateMaker::has_small_launch(const Family& family, const Config& config) const {
  if (find_obstacle(family, config, small_, limits_)) {
    return false;
  }
  const auto request = [&](const Problem& problem) {
    return compile_request(family, config, problem, limits_.arch, limits_);
  };
  return is_same_code(request(small_), request(problem_));
}

}  // namespace fatune

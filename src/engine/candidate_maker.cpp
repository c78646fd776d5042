#include "engine/candidate_maker.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/cubin_elf.hpp"
#include "model/flop.hpp"
#include "model/kv_pages.hpp"
#include "plan/estimate_rule.hpp"
#include "race/estimate.hpp"

namespace fatune {
namespace {

class WorkCount {
 public:
  explicit WorkCount(const ConfigCase& of) : of_(of) {}

  [[nodiscard]] KernelWork of(const Result& result, const LaunchGeometry& geometry,
                              const KnownCode& code) const {
    const Problem& problem = of_.problem;
    const auto heads = static_cast<double>(problem.batch * problem.heads);
    KernelWork work;
    work.blocks = block_count(geometry);
    work.threads_per_block = result.threads_per_block;
    work.blocks_per_sm = result.blocks_per_sm;
    const std::optional<double> tensor_flop = find_quantity(of_, "tensor_flop");
    if (tensor_flop || code.uses_tensor_cores) {
      work.tensor_flop = tensor_flop.value_or(literature_flop(problem));
    } else {
      work.fp32_flop = literature_flop(problem);
    }
    work.warpgroup_flop = std::min(work.tensor_flop, quantity_or("warpgroup_flop", 0.0));
    work.exponentials =
        quantity_or("exponentials", static_cast<double>(problem.heads) * visible_pairs(problem));
    work.smem_traffic_bytes = quantity_or("smem_traffic_bytes", 0.0);
    work.device_memory_bytes = device_memory_bytes();
    work.spill_bytes = spill_bytes(result, heads, static_cast<double>(work.blocks));
    work.counted = code.counted;
    return work;
  }
  /// Q, K and V read once, O written once; of K and V with lengths or pages, the rows that exist.
  [[nodiscard]] double device_memory_bytes() const {
    if (!of_.problem.seq_lens_kv.empty() || has_pages(of_.problem) || is_packed(of_.problem)) {
      return needed_bytes(of_.problem);
    }
    double bytes = 0.0;
    for (const TensorRole role : kTensorRoles) {
      bytes += static_cast<double>(tensor_bytes(of_.problem, role));
    }
    return bytes;
  }

 private:
  [[nodiscard]] double quantity_or(const char* name, double otherwise) const {
    return find_quantity(of_, name).value_or(otherwise);
  }

  [[nodiscard]] double spill_bytes(const Result& result, double heads, double blocks) const {
    const double kv_steps = heads * quantity_or("kv_steps", blocks / heads);
    const double bytes =
        result.facts
            ? static_cast<double>(result.facts->spill_load_bytes + result.facts->spill_store_bytes)
            : quantity_or("expected_spill_bytes", 0.0);
    return bytes * result.threads_per_block * kv_steps;
  }

  const ConfigCase& of_;
};

/// The launch on a device of `sm_count` SMs. Empty: the family's expressions do not allow for so
/// many, or for the problem.
std::optional<LaunchGeometry> launch_on(const ConfigCase& of, int sm_count) {
  DeviceLimits limits = of.limits;
  limits.sm_count = sm_count;
  try {
    return launch_geometry({of.family, of.config, of.problem, limits});
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The launch on a device that has room for all blocks at once; nothing if there is none.
std::optional<LaunchGeometry> unlimited_launch(const ConfigCase& of) {
  constexpr int kManySms = 1 << 22;
  auto launch = launch_on(of, kManySms);
  const auto on_more = launch_on(of, 2 * kManySms);
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
    const auto [winner_us, best_us] = compared_us(report.ranking.front().outcome, best->outcome);
    audit.gain_percent = 100.0 * (winner_us / best_us - 1.0);
  }
  return audit;
}

}  // namespace

LaunchGeometry spread_launch(const ConfigCase& of, const LaunchGeometry& launch) {
  LaunchGeometry spread = launch;
  if (const auto unlimited = unlimited_launch(of)) {
    spread.grid = unlimited->grid;
  }
  return spread;
}

std::optional<std::int64_t> count_tiles(const ConfigCase& of) {
  Problem problem = of.problem;
  problem.seq_len_kv = 1;
  problem.seq_lens_kv.clear();
  problem.page_size = 0;
  const auto launch = unlimited_launch({of.family, of.config, problem, of.limits});
  return launch ? std::optional(block_count(*launch)) : std::nullopt;
}

Estimated estimate_result(const ConfigCase& of, const Result& result,
                          const LaunchGeometry& geometry, const SmRates& rates,
                          const KnownCode& code) {
  const WorkCount work(of);
  if (const auto model = time_model(of)) {
    return estimate(*model, work.device_memory_bytes(), of.limits);
  }
  const LaunchGeometry spread = spread_launch(of, geometry);
  Estimated estimated = estimate(work.of(result, spread, code), of.limits, rates);
  if (!code.counted && !find_quantity(of, "tensor_flop")) {
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

Guess guess(const ConfigCase& of, const Result& result, const LaunchGeometry& geometry,
            const SmRates& rates) {
  constexpr int kTypicalRegisters = 160;
  const auto& block = geometry.block;
  Result guessed = result;
  guessed.threads_per_block = static_cast<int>(block[0] * block[1] * block[2]);
  guessed.blocks_per_sm =
      std::max(1, blocks_per_sm(of.limits, guessed.threads_per_block, kTypicalRegisters,
                                geometry.dynamic_smem_bytes));
  return {estimate_result(of, guessed, geometry, rates), guessed.blocks_per_sm};
}

std::optional<Outcome> find_obstacle(const ConfigCase& of) {
  if (auto invalid = check_valid(of.family, of.config, &of.problem, &of.limits)) {
    return *std::move(invalid);
  }
  if (auto unlaunchable = check_limits(of)) {
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
  const ConfigCase of = case_of(config, problem_);
  Prepared prepared{make_result(of.family, config), std::nullopt};
  prepared.result.total_flop = find_quantity(of, "total_flop");
  if (auto obstacle = find_obstacle(of)) {
    prepared.result.outcome = *std::move(obstacle);
  } else {
    prepared.geometry = launch_geometry(of);
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
  Candidate candidate{std::move(prepared.result),
                      *prepared.geometry,
                      launch_geometry(case_of(config, probe_)),
                      std::nullopt,
                      std::nullopt,
                      nullptr};
  if (part_) {
    candidate.part_geometry = launch_geometry(case_of(config, *part_));
  }
  if (has_small_launch(config)) {
    candidate.small_geometry = launch_geometry(case_of(config, small_));
  }
  return candidate;
}

Result CandidateMaker::make_pruned(const PrunedConfig& pruned) const {
  Result result = make_result(families_.of(pruned.config), pruned.config);
  result.outcome = pruned.why;
  return result;
}

void CandidateMaker::finish_launch(Candidate& candidate) const {
  const Config& config = candidate.result.config;
  const ResourceFacts* facts = &candidate.artifact->facts;
  candidate.geometry = launch_geometry(case_of(config, problem_), facts);
  candidate.probe_geometry = launch_geometry(case_of(config, probe_), facts);
  if (part_) {
    candidate.part_geometry = launch_geometry(case_of(config, *part_), facts);
  }
  if (candidate.small_geometry) {
    candidate.small_geometry = launch_geometry(case_of(config, small_), facts);
  }
}

/// Whether the configuration can run on the small problem with the machine code for the problem
/// itself.
bool CandidateMaker::has_small_launch(const Config& config) const {
  const ConfigCase small = case_of(config, small_);
  if (find_obstacle(small)) {
    return false;
  }
  const CompileRequest a = compile_request(small);
  const CompileRequest b = request(config);
  return a.sources == b.sources && a.defines == b.defines && a.options == b.options &&
         a.entry_point == b.entry_point;
}

}  // namespace fatune

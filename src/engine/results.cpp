#include "engine/results.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "compile/cubin_elf.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {

Result make_result(const Family& family, const Config& config) {
  Result result;
  result.config = config;
  result.short_form = short_form(family, config);
  if (!family.version.empty()) {
    result.short_form += " @ " + family.version;
  }
  result.kernel_name = kernel_name(family, config);
  result.parameters = named_values(family, config);
  return result;
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

namespace {

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

}  // namespace

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

}  // namespace fatune

#include "engine/results.hpp"

#include <fmt/format.h>

#include "compile/kernel_parameters.hpp"
#include "plan/config_text.hpp"
#include "plan/kernel_name.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

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

}  // namespace fatune

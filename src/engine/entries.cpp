#include "engine/entries.hpp"

#include <fmt/format.h>

#include "compile/kernel_parameters.hpp"
#include "plan/config_text.hpp"
#include "plan/kernel_name.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"

namespace fatune {

Entry make_entry(const Family& family, const Config& config) {
  Entry entry;
  entry.config = config;
  entry.short_form = short_form(family, config);
  entry.kernel_name = kernel_name(family, config);
  entry.parameters = named_values(family, config);
  return entry;
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

std::optional<Unlaunchable> add_artifact(const Artifact& artifact, const LaunchGeometry& geometry,
                                         const DeviceLimits& limits, Entry& entry) {
  const auto& block = geometry.block;
  entry.facts = artifact.facts;
  entry.dynamic_smem_bytes = geometry.dynamic_smem_bytes;
  entry.threads_per_block = static_cast<int>(block[0] * block[1] * block[2]);
  const std::int64_t smem_bytes = geometry.dynamic_smem_bytes + artifact.facts.static_smem_bytes;
  entry.blocks_per_sm = blocks_per_sm(limits, entry.threads_per_block,
                                      artifact.facts.registers_per_thread, smem_bytes);
  entry.compile_ms = artifact.compile_ms;
  entry.from_cache = artifact.from_cache;
  entry.artifact_key = artifact.key;
  if (auto mismatch = argument_mismatch(artifact, geometry.arguments)) {
    entry.blocks_per_sm = 0;
    return Unlaunchable{*std::move(mismatch)};
  }
  if (entry.blocks_per_sm > 0) {
    return std::nullopt;
  }
  return Unlaunchable{fmt::format(
      "no SM of {} holds a block of {} threads with {} registers each and {} bytes of shared "
      "memory (limits: {} registers, {} bytes)",
      limits.name, entry.threads_per_block, artifact.facts.registers_per_thread, smem_bytes,
      limits.registers_per_sm, limits.smem_per_block_optin_bytes)};
}

std::optional<Serialized> find_serialization(const ResourceFacts& facts) {
  std::vector<AssemblerNote> losses = facts.notes;
  std::erase_if(losses, [](const AssemblerNote& note) { return !note.loses_speed; });
  return losses.empty() ? std::nullopt : std::optional(Serialized{notes_text(losses)});
}

}  // namespace fatune

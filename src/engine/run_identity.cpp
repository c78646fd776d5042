#include "engine/session.hpp"

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "measure/measurement_module.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

/// The identity of all estimates. It is not a hash, so no run that measures has it.
constexpr const char* kEstimate = "estimate";

/// Hash of the kernels that decide whether a result is right.
std::string verifier_hash(const FileTree& tree) {
  Sha256 hash;
  for (const std::string& name : measurement_source_names()) {
    hash.update_file(name, tree.read("kernels/" + name));
  }
  return hash.finish_hex();
}

nlohmann::json config_json(const Config& config) { return {config.family, config.values}; }

nlohmann::json plan_json(const PlannedRun& run) {
  nlohmann::json problems = nlohmann::json::array();
  for (const ProblemPlan& plan : run.problems) {
    nlohmann::json configs = nlohmann::json::array();
    for (const Config& config : plan.configs) {
      configs.push_back(config_json(config));
    }
    problems.push_back({record_json(plan.problem), plan.run, std::move(configs)});
    if (plan.kept_in_race) {
      problems.back().push_back(config_json(*plan.kept_in_race));
    }
  }
  return {{"family", run.kernels.families.names()},
          {"problems", std::move(problems)},
          {"counters", run.counters},
          {"search", run.search->name()}};
}

/// Returns the conditions of measurement. `gpu`: the GPU's UUID, or the name of its model.
nlohmann::json conditions_json(const PlannedRun& run, const RunReport& header,
                               const std::string& gpu) {
  return {{"gpu", gpu},
          {"policy", record_json(header.policy)},
          {"toolchain", record_json(header.toolchain)},
          {"verifier", verifier_hash(run.kernels.tree)}};
}

}  // namespace

std::string plan_hash(const PlannedRun& run) { return sha256_hex(record_text(plan_json(run))); }

std::string sweep_hash(const PlannedRun& run, const RunReport& header, const Shard& shard,
                       bool emulated) {
  nlohmann::json sweep = conditions_json(run, header, header.device.name);
  sweep["sources"] = header.source_hashes;
  sweep["plan"] = shard.sweep;
  sweep["fleet"] = shard.fleet;
  sweep["shards"] = shard.count;
  if (!header.measured) {
    sweep["estimate"] = {{"device", record_json(header.device)}, {"emulated", emulated}};
  }
  return sha256_hex(record_text(sweep));
}

RunIdentity identify(const PlannedRun& run, const RunReport& header) {
  if (!header.measured) {
    return {kEstimate, kEstimate};
  }
  RunIdentity identity;
  identity.conditions = sha256_hex(record_text(conditions_json(run, header, header.device.uuid)));
  identity.plan = sha256_hex(identity.conditions + record_text(plan_json(run)));
  return identity;
}

}  // namespace fatune

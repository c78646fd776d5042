#include "app/run_identity.hpp"

#include <nlohmann/json.hpp>

#include "compile/sha256.hpp"
#include "measure/measurement_kernels.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

void add_file(Sha256& hash, const std::string& name, const std::string& text) {
  hash.update(name + '\0' + std::to_string(text.size()) + '\0');
  hash.update(text);
}

/// Of the kernels that decide whether a result is right.
std::string verifier_hash(const FileTree& tree) {
  Sha256 hash;
  for (const std::string& name : measurement_source_names()) {
    add_file(hash, name, tree.read("kernels/" + name));
  }
  return hash.finish_hex();
}

nlohmann::json plan_json(const PlannedRun& run) {
  nlohmann::json problems = nlohmann::json::array();
  for (const ProblemPlan& plan : run.problems) {
    nlohmann::json configs = nlohmann::json::array();
    for (const Config& config : plan.configs) {
      configs.push_back(config.values);
    }
    problems.push_back({record_json(plan.problem), plan.run, std::move(configs)});
    if (plan.kept_in_race) {
      problems.back().push_back(plan.kept_in_race->values);
    }
  }
  nlohmann::json plan{{"family", run.kernels.family.name}, {"problems", std::move(problems)}};
  if (run.counters > 0) {  // else as before there were any, so that older runs can be gone on with
    plan["counters"] = run.counters;
  }
  return plan;
}

}  // namespace

RunIdentity identify(const PlannedRun& run, const RunReport& header) {
  const nlohmann::json conditions{{"gpu", header.device.uuid},
                                  {"policy", record_json(header.policy)},
                                  {"toolchain", record_json(header.toolchain)},
                                  {"verifier", verifier_hash(run.kernels.tree)}};
  RunIdentity identity;
  identity.conditions = sha256_hex(record_text(conditions));
  identity.plan = sha256_hex(identity.conditions + record_text(plan_json(run)));
  return identity;
}

std::string source_hash(const Family& family) {
  Sha256 hash;
  for (const auto& item : family.sources.items) {
    const SourceBundle& sources = *item.value;
    add_file(hash, sources.main.name, sources.main.text);
    for (const auto* files : {&sources.headers, &sources.included}) {
      for (const SourceFile& file : *files) {
        add_file(hash, file.name, file.text);
      }
    }
  }
  return hash.finish_hex();
}

}  // namespace fatune

#include "app/choice/problems.hpp"

#include "app/choice/plan_problems.hpp"
#include "core/ranges.hpp"
#include "data/file_tree.hpp"
#include "plan/planner.hpp"
#include "plan/problem_json.hpp"

namespace fatune {
namespace {

/// Returns an empty text if there is none. Printed JSON has null where the file has nothing.
std::string text_in(const JsonNode& node, const char* key) {
  const auto found = node.find(key);
  return found && !found->raw().is_null() ? found->text() : std::string();
}

ProblemPreset read_one(const JsonNode& node) {
  return {.name = node.at("name").text(),
          .heads = node.at("heads").integer(),
          .d_head = node.at("d_head").integer(),
          .dtype = parse_dtype(node.at("dtype").text()),
          .causal = node.at("causal").boolean(),
          .details = read_details(node),
          .note = text_in(node, "note"),
          .source = node.at("source").text()};
}

ProblemOptions with_mask(ProblemOptions options, bool causal) {
  options.causal = causal;
  return options;
}

}  // namespace

std::vector<ProblemPreset> load_presets() {
  const JsonFile file = load_json(FileTree(), "configs/presets.json", "presets");
  return mapped(file.root().at("presets").elements(),
                [&](const JsonNode& node) { return read_one(node); });
}

void apply_preset(const ProblemPreset& preset, ProblemOptions& problems) {
  problems.heads = preset.heads;
  problems.d_heads = {preset.d_head};
  problems.dtypes = {preset.dtype};
  problems.causal = preset.causal;
  problems.details = preset.details;
}

std::vector<Problem> default_problems(const Family& family, const Config& config,
                                      const ProblemOptions& whole, const ProblemOptions& ragged,
                                      const DeviceLimits& limits) {
  std::vector<Problem> problems;
  const auto problem_of = [&](const ProblemOptions& options) {
    return problem_for(family, config, options, options.seq_lens.front());
  };
  const auto add = [&](const ProblemOptions& options) {
    const Problem problem = problem_of(options);
    const bool possible = !check_valid(family, config, &problem, &limits);
    if (possible) {
      problems.push_back(problem);
    }
    return possible;
  };
  add(whole);
  add(ragged);
  if (!whole.causal && !add(with_mask(ragged, true))) {
    add(with_mask(whole, true));
  }
  return problems.empty() ? std::vector{problem_of(whole)} : problems;
}

}  // namespace fatune

#include "commands/cases/case_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "data/json_file.hpp"
#include "plan/parameter.hpp"
#include "plan/space.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

constexpr std::string_view kCaseFolder = "configs/cases/";
constexpr std::string_view kCaseEnding = ".json";

std::vector<std::string> case_keys(const FileTree& tree) {
  std::vector<std::string> keys = tree.list(kCaseFolder);
  for (std::string& key : keys) {
    key = key.substr(kCaseFolder.size(), key.size() - kCaseFolder.size() - kCaseEnding.size());
  }
  return keys;
}

JsonFile open_case_file(const FileTree& tree, const std::string& text) {
  if (is_space_file(text)) {
    return load_json_from_disk(tree, text, "case_set");
  }
  const std::vector<std::string> keys = case_keys(tree);
  if (!is_among(text, keys)) {
    throw Error(ExitCode::usage, fmt::format("there are no cases '{}'", printable(text)), "CASES",
                fmt::format("known: {}; or give a file ending in .json", fmt::join(keys, ", ")));
  }
  return load_json(tree, fmt::format("{}{}{}", kCaseFolder, text, kCaseEnding), "case_set");
}

ProblemOptions read_case_problem(const JsonNode& root) {
  const JsonNode node = root.at("problem");
  ProblemOptions problem;
  problem.batch = node.at("batch").integer();
  problem.heads = node.at("heads").integer();
  problem.d_heads = {node.at("d_head").integer()};
  problem.dtypes = {parse_dtype(node.at("dtype").text())};
  problem.causal = node.at("causal").boolean();
  for (const JsonNode& length : root.at("seq_lens").elements()) {
    problem.seq_lens.push_back(length.integer());
  }
  return problem;
}

CaseVariant read_variant(const JsonNode& node) {
  const JsonNode values = node.at("values");
  CaseVariant variant{node.at("name").text(), values.where(), {}};
  for (const auto& [name, value] : values.members()) {
    variant.values.emplace_back(name, value.text());
  }
  return variant;
}

/// Returns the parameter's index in the family, and its parsed value.
std::pair<std::size_t, ParamValue> resolve(const CaseVariant& variant, const Family& family,
                                           const std::string& name, const std::string& text) {
  const auto parameter = find_parameter(family, name);
  if (!parameter) {
    throw Error(ExitCode::bad_file, fmt::format("{} has no parameter '{}'", family.name, name),
                variant.where);
  }
  try {
    return {*parameter, parse_value(family.parameters[*parameter], text)};
  } catch (const Error& error) {
    throw Error(ExitCode::bad_file, error.what_was_wrong(), variant.where, error.remedy());
  }
}

template <typename T>
void complete_list(const std::vector<T>& usual, std::vector<T>& list) {
  if (list.empty()) {
    list = usual;
  }
}

template <typename T>
void complete_value(const std::optional<T>& usual, std::optional<T>& value) {
  value = value ? value : usual;
}

}  // namespace

CaseSet load_case_set(const FileTree& tree, const std::string& text) {
  const JsonFile file = open_case_file(tree, text);
  const JsonNode root = file.root();
  CaseSet set{text,
              file.origin(),
              root.at("summary").text(),
              root.at("family").text(),
              root.at("space").text(),
              read_case_problem(root),
              {},
              {}};
  for (const JsonNode& variant : root.at("variants").elements()) {
    set.variants.push_back(read_variant(variant));
  }
  for (const JsonNode& name : root.at("shown").elements()) {
    set.shown.push_back(name.text());
  }
  return set;
}

void complete_by(const CaseSet& set, ProblemOptions& problems) {
  complete_list(set.problem.seq_lens, problems.seq_lens);
  complete_list(set.problem.d_heads, problems.d_heads);
  complete_list(set.problem.dtypes, problems.dtypes);
  complete_value(set.problem.batch, problems.batch);
  complete_value(set.problem.heads, problems.heads);
  complete_value(set.problem.causal, problems.causal);
}

std::vector<Config> configs_of(const CaseVariant& variant, const Family& family,
                               const std::vector<Config>& all) {
  std::vector<Config> configs = all;
  for (const auto& [name, text] : variant.values) {
    const auto [parameter, value] = resolve(variant, family, name, text);
    std::erase_if(configs, [parameter = parameter, value = value](const Config& config) {
      return config.values[parameter] != value;
    });
  }
  return configs;
}

}  // namespace fatune

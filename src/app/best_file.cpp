#include "app/best_file.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "data/json_file.hpp"

namespace fatune {
namespace {

Problem read_problem(const JsonNode& node) {
  return {node.at("batch").integer(),           node.at("seq_len").integer(),
          node.at("heads").integer(),           node.at("d_head").integer(),
          parse_dtype(node.at("dtype").text()), node.at("causal").boolean()};
}

void add_winner(const JsonNode& node, BestFile& file) {
  const JsonNode winner = node.at("winner");
  if (winner.raw().is_null()) {
    return;
  }
  KnownWinner known{read_problem(node.at("problem")), winner.at("config").text()};
  const bool is_new =
      std::none_of(file.winners.begin(), file.winners.end(),
                   [&](const KnownWinner& other) { return other.problem == known.problem; });
  if (is_new) {
    file.winners.push_back(std::move(known));
  }
}

}  // namespace

BestFile read_best_file(const FileTree& tree, const std::filesystem::path& path) {
  const JsonFile json = load_json_from_disk(tree, path, "best_configs");
  BestFile file{json.root().at("family").text(), json.root().at("space").text(), {}};
  for (const JsonNode& gpu : json.root().at("gpus").elements()) {
    for (const JsonNode& problem : gpu.at("problems").elements()) {
      add_winner(problem, file);
    }
  }
  if (file.winners.empty()) {
    throw Error(ExitCode::bad_file, "it names no winner", path.string(),
                "give a best_configs.json that a sweep has written");
  }
  return file;
}

}  // namespace fatune

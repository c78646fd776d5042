#include "results/other_outputs.hpp"

#include <optional>
#include <string>

#include "plan/problem_json.hpp"

namespace fatune {
namespace {

std::optional<double> optional_number(const JsonNode& object, const std::string& name) {
  const auto found = object.find(name);
  return found && !found->raw().is_null() ? std::optional(found->number()) : std::nullopt;
}

std::optional<double> winner_tflops_of(const JsonNode& row) {
  const auto best = row.find("best");
  return best && !best->raw().is_null()
             ? optional_number(row.at("candidates").at(best->text()), "tflops")
             : std::nullopt;
}

PeerProblem read_peer_problem(const JsonNode& row) {
  PeerProblem problem{read_problem(row.at("problem")),
                      winner_tflops_of(row),
                      optional_number(row, "sm_clock_mhz"),
                      {}};
  for (const auto& [peer, figure] : row.at("peers").members()) {
    if (const auto tflops = optional_number(figure, "tflops")) {
      problem.figures.push_back({peer, *tflops});
    }
  }
  return problem;
}

CodeCorrelation read_correlation(const JsonNode& node) {
  return {node.at("what").text(), node.at("spearman").number(), node.at("low").number(),
          node.at("high").number()};
}

}  // namespace

PeerStudy read_peers(const JsonNode& document) {
  PeerStudy study{document.at("device").text(),
                  document.at("date").text(),
                  document.at("command_line").text(),
                  {}};
  for (const JsonNode& row : document.at("rows").elements()) {
    study.problems.push_back(read_peer_problem(row));
  }
  return study;
}

std::vector<CodeStudy> read_code_studies(const JsonNode& document) {
  std::vector<CodeStudy> studies;
  for (const JsonNode& problem : document.at("problems").elements()) {
    CodeStudy& study = studies.emplace_back(CodeStudy{problem.at("problem").text(), {}});
    for (const JsonNode& correlation : problem.at("correlations").elements()) {
      study.correlations.push_back(read_correlation(correlation));
    }
  }
  return studies;
}

}  // namespace fatune

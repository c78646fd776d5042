#pragma once

#include <functional>
#include <memory>
#include <string>

#include "attention/problem.hpp"
#include "commands/evaluate/line_input.hpp"
#include "plan/family.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// Tries the configurations that another program proposes in lines of JSON (docs/evaluate.md).
/// Answers each with a line when it has failed, or when its time is as well known as it will be
/// until more is proposed. Bad lines are answered too, and do not end the search.
class EvaluationSearch : public CandidateSearch {
 public:
  using Print = std::function<void(const std::string& line)>;

  /// All references must outlive it. Only one source may exist at a time, because it takes the
  /// lines.
  EvaluationSearch(const Family& family, const Problem& problem, LineInput& input, Print print)
      : family_(family), problem_(problem), input_(input), print_(std::move(print)) {}

  [[nodiscard]] std::string name() const override { return "evaluate"; }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override;
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override { return configs; }

 private:
  const Family& family_;
  const Problem& problem_;
  LineInput& input_;
  Print print_;
};

}  // namespace fatune

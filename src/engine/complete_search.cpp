#include "engine/complete_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fatune {
namespace {

/// Hands a list out from its front.
class ListSource : public CandidateSource {
 public:
  explicit ListSource(std::vector<Proposal> all) : left_(std::move(all)) {}

  [[nodiscard]] std::vector<Proposal> propose(std::size_t most) override {
    const auto end = left_.begin() + static_cast<std::ptrdiff_t>(std::min(most, left_.size()));
    std::vector<Proposal> proposals(std::make_move_iterator(left_.begin()),
                                    std::make_move_iterator(end));
    left_.erase(left_.begin(), end);
    return proposals;
  }
  [[nodiscard]] bool finished() const override { return left_.empty(); }

 private:
  std::vector<Proposal> left_;
};

}  // namespace

std::unique_ptr<CandidateSource> CompleteSearch::begin(const ProblemPlan& plan,
                                                       const GuessUs& guess) const {
  std::vector<std::pair<double, Proposal>> guessed;
  for (const Config& config : plan.configs) {
    guessed.push_back({guess(config), {config, {}}});
  }
  for (const AuditedConfig& audited : plan.audited) {
    guessed.push_back({guess(audited.config), {audited.config, audited.rule}});
  }
  std::ranges::stable_sort(guessed, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Proposal> proposals;
  for (auto& [us, proposal] : guessed) {
    proposals.push_back(std::move(proposal));
  }
  return std::make_unique<ListSource>(std::move(proposals));
}

}  // namespace fatune

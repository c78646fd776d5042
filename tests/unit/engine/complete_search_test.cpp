#include "engine/complete_search.hpp"

#include <gmock/gmock.h>

#include "plan/short_form.hpp"
#include "unit/engine/toy_problem.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class CompleteSearchTest : public testing::Test {
 protected:
  /// Short forms, with the rules that are audited.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> propose(
      std::size_t most = CandidateSource::kNoLimit) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const Proposal& proposal : source_->propose(most)) {
      texts.emplace_back(short_form(toy_.families.of(proposal.config), proposal.config),
                         proposal.pruned_by);
    }
    return texts;
  }
  /// The larger block is guessed to be faster, and what unrolls cannot run.
  void begin(const ProblemPlan& plan) {
    source_ = CompleteSearch().begin(plan, [](const Config& config) {
      return config.values.at(3) > 1 ? 0.0 : 1.0 / static_cast<double>(config.values.at(2));
    });
  }

  ToyProblems toy_;
  std::unique_ptr<CandidateSource> source_;
};

TEST_F(CompleteSearchTest, ProposesWhatCannotRunAndThenLikelyWinnersFirst) {
  ProblemPlan plan = toy_.plan(256, {kSmall, kLargeUnrolled, kSmallUnrolled});
  plan.audited = {{toy_.config(kLarge), "some-rule"}};
  begin(plan);
  EXPECT_FALSE(source_->finished());
  EXPECT_THAT(propose(), ElementsAre(Pair(kLargeUnrolled, ""), Pair(kSmallUnrolled, ""),
                                     Pair(kLarge, "some-rule"), Pair(kSmall, "")));
  EXPECT_TRUE(source_->finished());
  EXPECT_THAT(propose(), IsEmpty());
}

TEST_F(CompleteSearchTest, GivesNoMoreThanIsAskedFor) {
  begin(toy_.plan(256, {kSmall, kLarge}));
  EXPECT_THAT(propose(1), ElementsAre(Pair(kLarge, "")));
  EXPECT_FALSE(source_->finished());
  EXPECT_THAT(propose(1), ElementsAre(Pair(kSmall, "")));
  EXPECT_TRUE(source_->finished());
}

TEST_F(CompleteSearchTest, OfNothingHasFinished) {
  begin(toy_.plan(256, {}));
  EXPECT_TRUE(source_->finished());
}

TEST_F(CompleteSearchTest, HasNoNameSoThatOlderRunsAreResumed) {
  EXPECT_EQ(CompleteSearch().name(), "");
}

}  // namespace
}  // namespace fatune

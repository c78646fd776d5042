#include "engine/problem_run.hpp"
#include "race/point_source.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>

#include "engine/interrupt.hpp"
#include "unit/engine/recording_log.hpp"
#include "unit/engine/scripted_evaluator.hpp"
#include "unit/engine/toy_problem.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class CountingObserver : public RunObserver {
 public:
  void begin_problem(const Problem&) override { ++begun; }
  void step() override { ++steps; }
  int begun = 0;
  int steps = 0;
};

class ProblemRunTest : public testing::Test {
 protected:
  /// Returns true if the run is complete. Its report is in report_.
  bool run(const std::vector<const char*>& configs) { return run(toy_.plan(256, configs)); }
  bool run(const ProblemPlan& plan) {
    ProblemWork work(toy_.families, toy_.limits, toy_.rates, plan, *search_);
    CompileFeed feed(
        {0}, [this](const CompileRequest& request) { return toy_.compile_one(request); }, jobs_);
    std::vector<CandidateId> ids = work.ask(first_request(work.source(), feed.jobs()));
    if (backwards_) {
      std::reverse(ids.begin(), ids.end());
    }
    for (const CandidateId id : ids) {
      feed.add({0, id}, work.request(id));
    }
    ProblemRun run({toy_.limits, feed, evaluator_, log_, observer_, baseline_, 12.5}, work, 0);
    const bool complete = run.run();
    report_ = run.take_report();
    return complete;
  }

  /// The admission as an earlier run would have recorded it.
  [[nodiscard]] JournalEvent admission(const char* config) const {
    const ProblemPlan plan = toy_.plan(256, {config});
    ProblemWork work(toy_.families, toy_.limits, toy_.rates, plan, ExhaustiveSearch());
    static_cast<void>(work.ask(1));
    JournalEvent event;
    event.kind = JournalEvent::Kind::admitted;
    event.config = config;
    event.artifact_key = "key of " + std::string(config);
    event.launch = work.candidates().at(0).geometry;
    event.us = 1.0;
    return event;
  }

  [[nodiscard]] std::vector<std::string> ranking() const {
    std::vector<std::string> configs;
    for (const Result& result : report_.ranking) {
      configs.push_back(result.short_form);
    }
    return configs;
  }
  [[nodiscard]] const Result& result_of(const std::string& config) const {
    for (const auto* results : {&report_.ranking, &report_.failures, &report_.audited}) {
      for (const Result& result : *results) {
        if (result.short_form == config) {
          return result;
        }
      }
    }
    throw std::runtime_error("no result " + config);
  }

  ToyProblems toy_;
  ScriptedEvaluator evaluator_;
  RecordingLog log_;
  CountingObserver observer_;
  std::optional<Config> baseline_;
  std::unique_ptr<CandidateSearch> search_ = std::make_unique<ExhaustiveSearch>();
  int jobs_ = 1;
  bool backwards_ = false;  ///< the last candidate is compiled first
  ProblemReport report_;
};

TEST_F(ProblemRunTest, KeepsTheEvaluatorsOrder) {
  ProblemPlan plan = toy_.plan(256, {kLarge, kSmall, kSmallUnrolled});
  plan.run = 2;
  plan.pruned = 3;
  plan.invalid = 4;
  EXPECT_TRUE(run(plan));
  EXPECT_THAT(ranking(), ElementsAre(kSmall, kSmallUnrolled, kLarge));
  EXPECT_EQ(report_.ranking[0].rank, 1);
  EXPECT_EQ(report_.ranking[2].tie_group, 3);
  EXPECT_EQ(report_.run, 2);
  EXPECT_EQ(report_.pruned, 3);
  EXPECT_EQ(report_.invalid, 4);
  EXPECT_EQ(report_.device_uuid, "GPU-scripted");
  ASSERT_TRUE(report_.measuring);
  EXPECT_EQ(report_.measuring->stopped_because, StopReason::target);
  EXPECT_THAT(evaluator_.budgets_s, ElementsAre(12.5));
  EXPECT_EQ(observer_.steps, 3);
}

TEST_F(ProblemRunTest, TellsTheLogOfEachOutcomeAndOfTheEnd) {
  evaluator_.refusals[kLarge] = WrongResult{};
  toy_.fails = "64, 64): unroll_2";
  EXPECT_TRUE(run({kSmall, kLarge, kLargeUnrolled}));
  EXPECT_THAT(log_.begun, SizeIs(1));
  EXPECT_THAT(log_.begun[0].ranking, IsEmpty());
  EXPECT_THAT(log_.added, UnorderedElementsAre(
                              RecordingLog::Added{kSmall, "measured", true, true},
                              RecordingLog::Added{kLarge, "wrong_result", true, true},
                              RecordingLog::Added{kLargeUnrolled, "compile_failed", false, false}));
  ASSERT_THAT(log_.ended, SizeIs(1));
  EXPECT_TRUE(log_.ended[0].finished);
  EXPECT_THAT(log_.ended[0].report.ranking, SizeIs(1));
  EXPECT_THAT(log_.ended[0].report.failures, SizeIs(2));
}

TEST_F(ProblemRunTest, WhatNoSmHoldsIsNotEvaluated) {
  toy_.registers = 300;
  EXPECT_TRUE(run({kSmall}));
  EXPECT_THAT(evaluator_.admitted, IsEmpty());
  EXPECT_EQ(outcome_name(result_of(kSmall).outcome), "unlaunchable");
  EXPECT_THAT(log_.added, ElementsAre(RecordingLog::Added{kSmall, "unlaunchable", true, false}));
}

TEST_F(ProblemRunTest, WhatPtxasSerialisedIsNotEvaluated) {
  toy_.notes = {{"C7517", "warpgroup.wait is injected", false}, {"C7512", "serialized", true}};
  EXPECT_TRUE(run({kSmall}));
  EXPECT_THAT(evaluator_.admitted, IsEmpty());
  EXPECT_EQ(outcome_name(result_of(kSmall).outcome), "serialized");
  EXPECT_EQ(outcome_summary(result_of(kSmall).outcome), "C7512: serialized");
  EXPECT_THAT(log_.added, ElementsAre(RecordingLog::Added{kSmall, "serialized", true, false}));
}

TEST_F(ProblemRunTest, AnInjectedWaitIsNoLoss) {
  toy_.notes = {{"C7517", "warpgroup.wait is injected", false}};
  EXPECT_TRUE(run({kSmall}));
  EXPECT_THAT(ranking(), ElementsAre(kSmall));
}

TEST_F(ProblemRunTest, WhatTheFamilyCannotBuildIsNotCompiled) {
  ProblemPlan plan = toy_.plan(256, {});
  plan.configs = {Config{"toy_attention", {5, 64, 48, 1}}};
  EXPECT_TRUE(run(plan));
  EXPECT_EQ(toy_.compilations, 0);
  ASSERT_THAT(report_.failures, SizeIs(1));
  EXPECT_EQ(outcome_name(report_.failures[0].outcome), "invalid");
  EXPECT_EQ(observer_.steps, 1);
}

TEST_F(ProblemRunTest, TheSameMachineCodeIsEvaluatedOnce) {
  toy_.same_code = "one key";
  EXPECT_TRUE(run({kSmall, kSmallUnrolled}));
  ASSERT_THAT(evaluator_.admitted, SizeIs(1));
  const std::string& first = evaluator_.admitted[0];
  const Result& repeat = result_of(first == kSmall ? kSmallUnrolled : kSmall);
  EXPECT_EQ(repeat.same_code_as, first);
  EXPECT_EQ(result_of(first).same_code_as, "");
  EXPECT_EQ(ranked_us(repeat.outcome), ranked_us(result_of(first).outcome));
  EXPECT_EQ(report_.ranking[0].tie_group, report_.ranking[1].tie_group);
  EXPECT_THAT(log_.added, SizeIs(2));
}

TEST_F(ProblemRunTest, TheSameMachineCodeInAnotherLaunchIsAnother) {
  toy_.same_code = "one key";
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_THAT(evaluator_.admitted, SizeIs(2));
}

TEST_F(ProblemRunTest, ARefusalHoldsForAllWithTheSameMachineCode) {
  toy_.same_code = "one key";
  evaluator_.refusals = {{kSmall, Crashed{"x"}}, {kSmallUnrolled, Crashed{"x"}}};
  EXPECT_TRUE(run({kSmall, kSmallUnrolled}));
  EXPECT_THAT(evaluator_.admitted, SizeIs(1));
  EXPECT_THAT(report_.failures, SizeIs(2));
  EXPECT_EQ(outcome_name(report_.failures[1].outcome), "crashed");
}

TEST_F(ProblemRunTest, AuditedOnesAreRacedAndNotRanked) {
  ProblemPlan plan = toy_.plan(256, {kLarge});
  plan.audited = {{toy_.config(kSmall), "some-rule"}};
  plan.pruned_by_rule = {{"some-rule", 5}};
  EXPECT_TRUE(run(plan));
  EXPECT_THAT(ranking(), ElementsAre(kLarge));
  EXPECT_EQ(report_.ranking[0].rank, 1);
  ASSERT_THAT(report_.audited, SizeIs(1));
  EXPECT_EQ(report_.audited[0].pruned_by, "some-rule");
  ASSERT_THAT(report_.audit, SizeIs(1));
  EXPECT_EQ(report_.audit[0].best_config, kSmall);
  EXPECT_GT(report_.audit[0].gain_percent, 0.0);
}

TEST_F(ProblemRunTest, WhatARuleDropsOnTheProblemIsNotTriedAndKeepsItsReason) {
  ProblemPlan plan = toy_.plan(256, {kLarge});
  plan.pruned_here = {{toy_.config(kSmall), {"some-rule", "because"}}};
  EXPECT_TRUE(run(plan));
  EXPECT_THAT(ranking(), ElementsAre(kLarge));
  EXPECT_EQ(toy_.compilations, 1);
  EXPECT_EQ(outcome_summary(result_of(kSmall).outcome), "some-rule: because");
  EXPECT_EQ(count_failed(report_), 0U);
  EXPECT_EQ(count_candidates(report_), 1U);
}

TEST_F(ProblemRunTest, ThePercentagesReferToTheBaseline) {
  baseline_ = toy_.config(kLarge);
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_DOUBLE_EQ(result_of(kLarge).relative_percent, 100.0);
  EXPECT_GT(result_of(kSmall).relative_percent, 100.0);
}

TEST_F(ProblemRunTest, AnInterruptEndsItWithWhatIsKnown) {
  const InterruptWatch watch;
  evaluator_.interrupt_at = 2;
  EXPECT_FALSE(run({kSmall, kSmallUnrolled, kLarge, kLargeUnrolled}));
  EXPECT_EQ(evaluator_.works, 2);
  ASSERT_THAT(log_.ended, SizeIs(1));
  EXPECT_FALSE(log_.ended[0].finished);
  EXPECT_EQ(report_.measuring->stopped_because, StopReason::not_yet);
  ASSERT_THAT(log_.added, SizeIs(evaluator_.admitted.size()));
  for (const auto& added : log_.added) {
    EXPECT_FALSE(added.evaluated) << "a time that is not final: " << added.config;
  }
}

// --- Resuming an interrupted run ---

TEST_F(ProblemRunTest, AProblemThatIsKnownWholeIsTakenAsItIs) {
  log_.earlier_report.emplace().device_uuid = "GPU-former";
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_EQ(report_.device_uuid, "GPU-former");
  EXPECT_THAT(evaluator_.begun, IsEmpty());
  EXPECT_THAT(log_.added, IsEmpty());
  EXPECT_THAT(log_.ended, IsEmpty());
  EXPECT_EQ(observer_.steps, 2);
}

TEST_F(ProblemRunTest, WhoIsInTheJournalIsNotAdmittedAgain) {
  log_.earlier_events = {admission(kLarge)};
  EXPECT_TRUE(run({kSmall, kLarge, kSmallUnrolled}));
  EXPECT_THAT(evaluator_.resumed, ElementsAre(kLarge));
  EXPECT_THAT(evaluator_.resumed_events, SizeIs(1));
  EXPECT_THAT(evaluator_.admitted, UnorderedElementsAre(kSmall, kSmallUnrolled));
  EXPECT_THAT(ranking(), ElementsAre(kLarge, kSmall, kSmallUnrolled));
  EXPECT_EQ(log_.drops, 0);
  EXPECT_EQ(observer_.steps, 3);
}

TEST_F(ProblemRunTest, WhoseSamplesAllComeFromTheJournalIsReused) {
  for (const bool all : {true, false}) {
    JournalEvent sample;
    sample.config = kLarge;
    sample.us = all ? 1.0 : 2.0;  // the evaluator resumes candidates with a time of 1
    log_.earlier_events = {admission(kLarge), sample};
    EXPECT_TRUE(run({kSmall, kLarge}));
    EXPECT_EQ(result_of(kLarge).reused, all);
    EXPECT_FALSE(result_of(kSmall).reused);
  }
}

TEST_F(ProblemRunTest, AJournalOfOtherCodeIsDropped) {
  log_.earlier_events = {admission(kLarge)};
  log_.earlier_events[0].artifact_key = "of another compiler";
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_EQ(log_.drops, 1);
  EXPECT_THAT(evaluator_.resumed, IsEmpty());
  EXPECT_THAT(evaluator_.admitted, UnorderedElementsAre(kSmall, kLarge));
}

TEST_F(ProblemRunTest, AJournalOfAnotherLaunchIsDropped) {
  log_.earlier_events = {admission(kLarge)};
  log_.earlier_events[0].launch.grid[0] += 1;
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_EQ(log_.drops, 1);
}

TEST_F(ProblemRunTest, AJournalThatTheEvaluatorCannotUseIsDropped) {
  log_.earlier_events = {admission(kLarge)};
  evaluator_.can_resume = false;
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_EQ(log_.drops, 1);
  EXPECT_THAT(evaluator_.admitted, UnorderedElementsAre(kSmall, kLarge));
}

TEST_F(ProblemRunTest, WhoHasTheCodeOfOneInTheJournalStandsBehindItWhoeverIsCompiledFirst) {
  toy_.same_code = "one key";
  for (const bool backwards : {false, true}) {
    for (const char* journaled : {kSmall, kSmallUnrolled}) {
      SCOPED_TRACE(journaled);
      backwards_ = backwards;
      log_.earlier_events = {admission(journaled)};
      log_.earlier_events[0].artifact_key = "one key";
      EXPECT_TRUE(run({kSmall, kSmallUnrolled}));
      EXPECT_THAT(evaluator_.admitted, IsEmpty());
      const Result& other = result_of(journaled == kSmall ? kSmallUnrolled : kSmall);
      EXPECT_EQ(other.same_code_as, journaled);
    }
  }
}

TEST_F(ProblemRunTest, AnOutcomeThatIsKnownIsNotFoundOutAgain) {
  log_.earlier_outcomes[kLarge] = TimedOut{100.0};
  EXPECT_TRUE(run({kSmall, kLarge}));
  EXPECT_THAT(evaluator_.admitted, ElementsAre(kSmall));
  EXPECT_TRUE(result_of(kLarge).reused);
  EXPECT_FALSE(result_of(kSmall).reused);
  EXPECT_EQ(outcome_name(result_of(kLarge).outcome), "timed_out");
}

TEST_F(ProblemRunTest, AnOutcomeThatIsKnownHoldsForAllWithTheSameMachineCode) {
  toy_.same_code = "one key";
  for (const bool backwards : {false, true}) {
    SCOPED_TRACE(backwards);
    backwards_ = backwards;
    log_.earlier_outcomes[kSmall] = Crashed{"x"};
    evaluator_.refusals[kSmallUnrolled] = Crashed{"x"};
    EXPECT_TRUE(run({kSmall, kSmallUnrolled}));
    EXPECT_EQ(outcome_name(result_of(kSmallUnrolled).outcome), "crashed");
  }
  EXPECT_LE(evaluator_.admitted.size(), 1U);
}

TEST_F(ProblemRunTest, AnInterruptWhileTheJournalsCodeIsCompiledEndsItToo) {
  const InterruptWatch watch;
  log_.earlier_events = {admission(kLarge)};
  interrupt_this_process();
  EXPECT_FALSE(run({kSmall, kLarge}));
  EXPECT_THAT(log_.ended, SizeIs(1));
  EXPECT_EQ(log_.drops, 0);
}

// --- A search that learns ---

/// Proposes two candidates at a time. The first two are the large blocks. Once it has their
/// outcomes, it proposes the small block that unrolls as the faster of them does, and a
/// configuration that cannot run.
class PairwiseSource : public CandidateSource {
 public:
  struct Told {
    std::vector<std::size_t> asked_for;
    std::map<Config, std::string> outcomes;  ///< names of the outcomes first observed
  };

  PairwiseSource(SearchSpace space, Told& told, bool admits_its_end)
      : space_(std::move(space)), told_(told), admits_its_end_(admits_its_end) {}

  [[nodiscard]] std::vector<Proposal> propose(std::size_t most) override {
    told_.asked_for.push_back(most);
    if (pairs_ == 0) {
      ++pairs_;
      return {{at(0), {}, {}}, {at(1), {}, {}}};
    }
    if (pairs_ == 1 && us_.size() == 2 && most >= 2) {
      ++pairs_;
      const bool unrolled = us_.at(at(1)) < us_.at(at(0));
      return {{at(unrolled ? 3 : 2), {}, {}}, {{"toy_attention", {5, 64, 48, 1}}, {}, {}}};
    }
    return {};
  }
  [[nodiscard]] std::vector<Proposal> propose_again(const std::vector<Config>& configs) override {
    std::vector<Proposal> proposals;
    for (const Config& config : configs) {
      if (config != at(0) && config != at(1)) {
        proposals.push_back({config, {}, {}});
      }
    }
    return proposals;
  }
  void observe(const Config& config, const Outcome& outcome) override {
    told_.outcomes.try_emplace(config, outcome_name(outcome));
    us_[config] = is_ranked(outcome) ? ranked_us(outcome) : 1e9;
  }
  [[nodiscard]] bool finished() const override { return pairs_ == 2 && admits_its_end_; }
  [[nodiscard]] bool learns() const override { return true; }

 private:
  [[nodiscard]] const Config& at(std::size_t point) const { return space_.points.at(point).config; }

  SearchSpace space_;
  Told& told_;
  bool admits_its_end_;
  int pairs_ = 0;
  std::map<Config, double> us_;
};

class PairwiseSearch : public CandidateSearch {
 public:
  explicit PairwiseSearch(bool admits_its_end = true) : admits_its_end_(admits_its_end) {}
  [[nodiscard]] std::string name() const override { return "pairwise"; }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    return std::make_unique<PairwiseSource>(std::move(space), told, admits_its_end_);
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override { return configs; }

  mutable PairwiseSource::Told told;

 private:
  bool admits_its_end_;
};

class LearningSearch : public ProblemRunTest {
 protected:
  LearningSearch() { jobs_ = 2; }
  bool run_pairwise(bool admits_its_end = true) {
    auto search = std::make_unique<PairwiseSearch>(admits_its_end);
    told_ = &search->told;
    search_ = std::move(search);
    return run({kLarge, kLargeUnrolled, kSmall, kSmallUnrolled});
  }
  [[nodiscard]] std::string told_of(const char* config) const {
    return told_->outcomes.at(toy_.config(config));
  }

  const PairwiseSource::Told* told_ = nullptr;  ///< owned by search_
};

TEST_F(LearningSearch, IsAskedForMoreAsItIsToldWhatIsKnown) {
  EXPECT_TRUE(run_pairwise());
  EXPECT_THAT(evaluator_.admitted, UnorderedElementsAre(kLarge, kLargeUnrolled, kSmall));
  EXPECT_THAT(ranking(), ElementsAre(kSmall, kLarge, kLargeUnrolled));
  ASSERT_THAT(report_.failures, SizeIs(1));
  EXPECT_EQ(outcome_name(report_.failures[0].outcome), "invalid");
  EXPECT_EQ(report_.measuring->stopped_because, StopReason::target);
  EXPECT_EQ(observer_.steps, 4);
  EXPECT_EQ(toy_.compilations, 3);
  EXPECT_EQ(told_of(kLarge), "measured");
  EXPECT_EQ(told_->outcomes.at({"toy_attention", {5, 64, 48, 1}}), "invalid");
}

TEST_F(LearningSearch, LearnsFromFailuresToo) {
  evaluator_.refusals[kLarge] = WrongResult{};
  EXPECT_TRUE(run_pairwise());
  EXPECT_THAT(ranking(), ElementsAre(kSmallUnrolled, kLargeUnrolled));
  EXPECT_EQ(told_of(kLarge), "wrong_result");
}

TEST_F(LearningSearch, IsToldOfThoseWithTheCodeOfAnother) {
  toy_.same_code = "one key";
  for (const bool refused : {false, true}) {
    if (refused) {
      evaluator_.refusals = {{kLarge, Crashed{"x"}}, {kLargeUnrolled, Crashed{"x"}}};
    }
    EXPECT_TRUE(run_pairwise());
    EXPECT_EQ(told_of(kLarge), refused ? "crashed" : "measured");
    EXPECT_EQ(told_of(kLargeUnrolled), refused ? "crashed" : "measured");
  }
}

TEST_F(LearningSearch, IsAskedForAsManyAsCompilersAreIdle) {
  EXPECT_TRUE(run_pairwise());
  ASSERT_GE(told_->asked_for.size(), 2U);
  EXPECT_EQ(told_->asked_for.front(), 2U);
  EXPECT_LE(*std::max_element(told_->asked_for.begin(), told_->asked_for.end()), 2U);
}

TEST_F(LearningSearch, ResumesWithWhatItHadProposedLater) {
  log_.earlier_events = {admission(kSmall)};
  EXPECT_TRUE(run_pairwise());
  EXPECT_THAT(evaluator_.resumed, ElementsAre(kSmall));
  EXPECT_EQ(log_.drops, 0);
  EXPECT_EQ(told_of(kSmall), "measured");
}

TEST_F(LearningSearch, EndsWhenItHasNoProposalThoughAllIsKnown) {
  EXPECT_TRUE(run_pairwise(false));
  EXPECT_THAT(ranking(), ElementsAre(kSmall, kLarge, kLargeUnrolled));
  EXPECT_TRUE(evaluator_.closed);
}

TEST_F(LearningSearch, IsInterruptedAsAnyOther) {
  const InterruptWatch watch;
  evaluator_.interrupt_at = 1;
  EXPECT_FALSE(run_pairwise());
  EXPECT_THAT(log_.ended, SizeIs(1));
}

}  // namespace
}  // namespace fatune

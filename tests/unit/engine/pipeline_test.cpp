#include "engine/pipeline.hpp"
#include "race/point_source.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "engine/interrupt.hpp"
#include "unit/engine/recording_log.hpp"
#include "unit/engine/scripted_evaluator.hpp"
#include "unit/engine/toy_problem.hpp"

namespace fatune {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

/// A scripted GPU with a thread of its own.
struct ScriptedGpu {
  explicit ScriptedGpu(const std::string& uuid)
      : device([this, uuid] {
          auto made = std::make_unique<ScriptedEvaluator>(uuid);
          evaluator = made.get();
          return made;
        }) {
    static_cast<void>(device.wait_ready());
  }
  ScriptedEvaluator* evaluator = nullptr;
  RecordingLog log;
  DeviceThread device;
};

class RunPipeline : public testing::Test {
 protected:
  RunPipeline() {
    for (const std::int64_t seq_len : {128, 256, 384}) {
      plans_.push_back(toy_.plan(seq_len, {kSmall, kLarge}));
    }
  }

  Pipeline make() { return make(search_); }
  Pipeline make(const CandidateSearch& search) {
    return {{toy_.families, toy_.limits, toy_.rates, search,
             [this](const CompileRequest& request) { return toy_.compile_one(request); },
             [](const CompileRequest&) { return false; }, 2, observer_, std::nullopt, budget_s_},
            plans_,
            {0, 1, 2}};
  }
  /// Runs on the first GPU alone.
  bool run() { return run({{0, 1, 2}}); }
  /// `shares` are the problems that an interrupted run had begun on each GPU.
  bool run(const std::vector<std::vector<std::size_t>>& shares) {
    Pipeline pipeline = make();
    std::vector<Seat> seats;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (const std::size_t problem : shares[i]) {
        gpus_[i]->log.begun_before.insert(plans_[problem].problem.seq_len);
      }
      seats.push_back({gpus_[i]->device, gpus_[i]->log});
    }
    return pipeline.run(seats, [this](std::size_t number, ProblemReport report) {
      reports_[number] = std::move(report);
    });
  }

  ToyProblems toy_;
  std::vector<ProblemPlan> plans_;
  ExhaustiveSearch search_;
  RunObserver observer_;
  double budget_s_ = 0.0;
  std::vector<std::unique_ptr<ScriptedGpu>> gpus_ = two_gpus();
  std::map<std::size_t, ProblemReport> reports_;

 private:
  static std::vector<std::unique_ptr<ScriptedGpu>> two_gpus() {
    std::vector<std::unique_ptr<ScriptedGpu>> gpus;
    gpus.push_back(std::make_unique<ScriptedGpu>("GPU-a"));
    gpus.push_back(std::make_unique<ScriptedGpu>("GPU-b"));
    return gpus;
  }
};

TEST_F(RunPipeline, RanksEveryProblemInOrder) {
  EXPECT_TRUE(run());
  EXPECT_THAT(gpus_[0]->evaluator->begun, ElementsAre(128, 256, 384));
  ASSERT_EQ(reports_.size(), 3U);
  for (const auto& [number, report] : reports_) {
    EXPECT_EQ(report.problem, plans_[number].problem);
    ASSERT_EQ(report.ranking.size(), 2U);
    EXPECT_EQ(report.ranking[0].short_form, kSmall);
    EXPECT_EQ(report.ranking[0].rank, 1);
  }
}

TEST_F(RunPipeline, WhatSeveralProblemsShareIsCompiledOnce) {
  EXPECT_TRUE(run());
  EXPECT_EQ(toy_.compilations, 2);
  EXPECT_THAT(gpus_[0]->evaluator->admitted, SizeIs(6));
}

TEST_F(RunPipeline, ACompilationThatFailsIsAFailureAndNothingElse) {
  toy_.fails = "(FP16, 64, 64)";
  EXPECT_TRUE(run());
  for (const auto& [number, report] : reports_) {
    EXPECT_EQ(report.ranking.size(), 1U);
    ASSERT_EQ(report.failures.size(), 1U);
    EXPECT_EQ(outcome_name(report.failures[0].outcome), "compile_failed");
  }
}

TEST_F(RunPipeline, WhatAGpuHadBegunGoesOnThere) {
  EXPECT_TRUE(run({{0, 2}, {1}}));
  ASSERT_EQ(reports_.size(), 3U);
  EXPECT_EQ(reports_[0].device_uuid, "GPU-a");
  EXPECT_EQ(reports_[1].device_uuid, "GPU-b");
  EXPECT_EQ(reports_[2].device_uuid, "GPU-a");
  EXPECT_THAT(gpus_[0]->log.ended, SizeIs(2));
  EXPECT_THAT(gpus_[1]->log.ended, SizeIs(1));
}

TEST_F(RunPipeline, SeveralGpusShareWhatIsNew) {
  EXPECT_TRUE(run({{}, {}}));
  ASSERT_EQ(reports_.size(), 3U);
  EXPECT_EQ(gpus_[0]->log.ended.size() + gpus_[1]->log.ended.size(), 3U);
}

/// Cannot begin with one of the problems.
class SearchThatFailsOnce : public ExhaustiveSearch {
 public:
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    if (++begun_ == 2) {
      throw Error(ExitCode::bad_file, "the second problem cannot be prepared");
    }
    return ExhaustiveSearch::begin(std::move(space));
  }

 private:
  mutable int begun_ = 0;
};

/// A search that learns, proposes nothing, and records how many proposals it is asked for.
class RecordingSearch : public CandidateSearch {
 public:
  [[nodiscard]] std::string name() const override { return "recording"; }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace) const override {
    return std::make_unique<Source>(first_asked_for.emplace_back());
  }
  [[nodiscard]] std::size_t most_tried(std::size_t) const override { return 0; }

  mutable std::deque<std::size_t> first_asked_for;  ///< by problem

 private:
  class Source : public CandidateSource {
   public:
    explicit Source(std::size_t& first) : first_(first) {}
    [[nodiscard]] std::vector<Proposal> propose(std::size_t most) override {
      first_ = first_ == 0 ? most : first_;
      return {};
    }
    [[nodiscard]] std::vector<Proposal> propose_again(const std::vector<Config>&) override {
      return {};
    }
    [[nodiscard]] bool finished() const override { return true; }
    [[nodiscard]] bool learns() const override { return true; }

   private:
    std::size_t& first_;
  };
};

TEST_F(RunPipeline, ProblemsThatWaitAreCompiledForAhead) {
  const RecordingSearch search;
  Pipeline pipeline = make(search);
  std::vector<Seat> seats{{gpus_[0]->device, gpus_[0]->log}};
  EXPECT_TRUE(pipeline.run(seats, [](std::size_t, const ProblemReport&) {}));
  EXPECT_THAT(search.first_asked_for, ElementsAre(2, 4, 4));
}

TEST_F(RunPipeline, AProblemThatCannotBePreparedIsAnError) {
  const SearchThatFailsOnce search;
  Pipeline pipeline = make(search);
  std::vector<Seat> seats{{gpus_[0]->device, gpus_[0]->log}};
  EXPECT_THROW(static_cast<void>(pipeline.run(seats,
                                              [this](std::size_t number, ProblemReport report) {
                                                reports_[number] = std::move(report);
                                              })),
               Error);
  EXPECT_EQ(reports_.size(), 1U);
}

TEST_F(RunPipeline, AGpuWithoutWorkIsNoObstacle) {
  EXPECT_TRUE(run({{0, 1, 2}, {}}));
  EXPECT_EQ(reports_.size(), 3U);
}

TEST_F(RunPipeline, AnErrorOfOneGpuComesWhenTheOthersHaveDoneTheirWork) {
  gpus_[0]->evaluator->fail_at = 1;
  EXPECT_THROW(static_cast<void>(run({{0, 2}, {1}})), Error);
  EXPECT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[1].ranking.size(), 2U);
}

TEST_F(RunPipeline, AnInterruptEndsItWithWhatIsKnown) {
  const InterruptWatch watch;
  gpus_[0]->evaluator->interrupt_at = 3;
  EXPECT_FALSE(run());
  EXPECT_THAT(gpus_[0]->evaluator->begun, ElementsAre(128, 256));
  EXPECT_EQ(reports_.size(), 2U);
  ASSERT_THAT(gpus_[0]->log.ended, SizeIs(2));
  EXPECT_TRUE(gpus_[0]->log.ended[0].finished);
  EXPECT_FALSE(gpus_[0]->log.ended[1].finished);
}

TEST_F(RunPipeline, WithoutABudgetNoProblemHasOne) {
  EXPECT_TRUE(run());
  EXPECT_THAT(gpus_[0]->evaluator->budgets_s, Each(std::nullopt));
}

TEST_F(RunPipeline, ProblemsThatAreLeftShareWhatIsLeftOfTheBudget) {
  budget_s_ = 3000.0;
  EXPECT_TRUE(run());
  double least_s = 900.0;  // of 1000; the run itself takes next to no time
  for (const auto& budget_s : gpus_[0]->evaluator->budgets_s) {
    ASSERT_TRUE(budget_s);
    EXPECT_GT(*budget_s, least_s);
    EXPECT_LE(*budget_s, 3000.0);
    least_s = *budget_s - 1.0;
  }
}

TEST_F(RunPipeline, ABudgetThatIsGoneIsStillPositive) {
  budget_s_ = 1e-9;
  EXPECT_TRUE(run());
  for (const auto& budget_s : gpus_[0]->evaluator->budgets_s) {
    ASSERT_TRUE(budget_s);
    EXPECT_GT(*budget_s, 0.0);
  }
}

}  // namespace
}  // namespace fatune

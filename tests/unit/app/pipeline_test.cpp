#include "app/pipeline.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <map>
#include <set>

#include "app/interrupt.hpp"
#include "app/target.hpp"
#include "unit/app/toy_kernels.hpp"

namespace fatune {
namespace {

/// Gives each BLOCK_ROWS a time, and can be lost or interrupted after a number of evaluations.
class ScriptedEvaluator : public Evaluator {
 public:
  [[nodiscard]] bool measures() const noexcept override { return true; }
  void begin_problem(const Problem& problem) override { begun.push_back(problem.seq_len); }
  [[nodiscard]] Outcome evaluate(const Entry& entry, const Candidate& candidate) override {
    EXPECT_EQ(entry.short_form, candidate.label);
    EXPECT_TRUE(entry.facts);
    ++evaluated;
    if (evaluated == interrupt_at) {
      ::raise(SIGINT);
    }
    if (evaluated == lose_at) {
      lost_ = true;
      return Crashed{"scripted"};
    }
    return Estimated{static_cast<double>(entry.config.values.at(2)), {}};
  }
  [[nodiscard]] bool lost() const noexcept override { return lost_; }

  std::vector<std::int64_t> begun;
  int evaluated = 0;
  int lose_at = -1;
  int interrupt_at = -1;

 private:
  bool lost_ = false;
};

class RunPipeline : public testing::Test {
 protected:
  RunPipeline() {
    target_.limits.arch = Arch{80, '\0'};
    quiet_.verbosity = Verbosity::quiet;
    for (const std::int64_t seq_len : {128, 256, 384}) {
      ProblemPlan plan;
      plan.problem = {1, seq_len, 1, 64, DType::fp16, false};
      plan.configs = {config("(FP16, 64, 32): unroll_1"), config("(FP16, 64, 64): unroll_1")};
      plans_.push_back(plan);
    }
  }

  [[nodiscard]] Config config(const char* text) const { return toy_config(kernels_, text); }

  PipelineEnd run() {
    Progress progress(quiet_, 6);
    const auto compile_one = [this](const CompileRequest& request) -> CompileResult {
      ++compilations_;
      if (request.label.find(fails_) != std::string::npos) {
        return CompileFailed{"scripted failure"};
      }
      Artifact artifact;
      artifact.facts.registers_per_thread = registers_;
      return artifact;
    };
    const PipelineParts parts{kernels_.family, target_.limits, compile_one, 2,
                              evaluator_,      progress,       log_};
    return run_pipeline(parts, plans_, std::nullopt,
                        [this](ProblemReport report) { reports_.push_back(std::move(report)); });
  }

  const KernelChoice kernels_ = toy_kernels();
  Target target_ = offline_target(Arch{80, '\0'}, kernels_.tree);
  OutputOptions quiet_;
  std::vector<ProblemPlan> plans_;
  ScriptedEvaluator evaluator_;
  RunLog log_;
  std::atomic<int> compilations_ = 0;
  std::string fails_ = "nothing fails";
  int registers_ = 64;
  std::vector<ProblemReport> reports_;
};

TEST_F(RunPipeline, RanksEveryProblemInOrder) {
  EXPECT_EQ(run(), PipelineEnd::complete);
  EXPECT_THAT(evaluator_.begun, testing::ElementsAre(128, 256, 384));
  ASSERT_EQ(reports_.size(), 3U);
  for (const ProblemReport& report : reports_) {
    ASSERT_EQ(report.ranking.size(), 2U);
    EXPECT_EQ(report.ranking[0].config, config("(FP16, 64, 32): unroll_1"));
    EXPECT_EQ(report.ranking[0].rank, 1);
  }
}

TEST_F(RunPipeline, WhatSeveralProblemsShareIsCompiledOnce) {
  EXPECT_EQ(run(), PipelineEnd::complete);
  EXPECT_EQ(compilations_, 2);
  EXPECT_EQ(evaluator_.evaluated, 6);
}

TEST_F(RunPipeline, ACompilationThatFailsIsAFailureAndNothingElse) {
  fails_ = "(FP16, 64, 64)";
  EXPECT_EQ(run(), PipelineEnd::complete);
  for (const ProblemReport& report : reports_) {
    EXPECT_EQ(report.ranking.size(), 1U);
    ASSERT_EQ(report.failures.size(), 1U);
    EXPECT_EQ(outcome_name(report.failures[0].outcome), "compile_failed");
  }
}

TEST_F(RunPipeline, WhatNoSmHoldsIsNotEvaluated) {
  registers_ = 300;
  EXPECT_EQ(run(), PipelineEnd::complete);
  EXPECT_EQ(evaluator_.evaluated, 0);
  EXPECT_EQ(outcome_name(reports_[0].failures[0].outcome), "unlaunchable");
}

TEST_F(RunPipeline, WhatTheFamilyCannotBuildIsNotCompiled) {
  plans_.resize(1);
  plans_[0].configs = {Config{"toy_attention", {5, 64, 48, 1}}};
  EXPECT_EQ(run(), PipelineEnd::complete);
  EXPECT_EQ(compilations_, 0);
  EXPECT_TRUE(evaluator_.begun.empty());
  EXPECT_EQ(outcome_name(reports_[0].failures[0].outcome), "invalid");
}

TEST_F(RunPipeline, ALostEvaluatorEndsItWithWhatWasDone) {
  evaluator_.lose_at = 3;
  EXPECT_EQ(run(), PipelineEnd::lost);
  EXPECT_EQ(evaluator_.evaluated, 3);
  ASSERT_EQ(reports_.size(), 2U);
  EXPECT_EQ(reports_[0].ranking.size(), 2U);
  EXPECT_EQ(reports_[1].failures.size(), 1U);
}

TEST_F(RunPipeline, AnInterruptEndsItAfterTheCandidate) {
  const InterruptWatch watch;
  evaluator_.interrupt_at = 4;
  EXPECT_EQ(run(), PipelineEnd::interrupted);
  EXPECT_EQ(evaluator_.evaluated, 4);
}

}  // namespace
}  // namespace fatune

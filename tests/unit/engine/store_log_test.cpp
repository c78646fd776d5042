// The answers that StoreLog gives about an interrupted run of the same plan.
#include "engine/store_log.hpp"

#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

JournalEvent sample(double us) {
  JournalEvent event;
  event.config = "(FP16, 1): fast";
  event.us = us;
  return event;
}

std::vector<double> times(const std::vector<JournalEvent>& events) {
  std::vector<double> us;
  for (const JournalEvent& event : events) {
    us.push_back(event.us);
  }
  return us;
}

class StoreLogTest : public StoreFolder {
 protected:
  [[nodiscard]] std::unique_ptr<StoreLog> begin(bool fresh = false) const {
    StoreOptions options;
    options.file = path_;
    options.fresh = fresh;
    NewRun run = sample_run();
    run.anew = fresh;
    auto log = std::make_unique<StoreLog>(options, run);
    log->begin_problem(sample_problem());
    return log;
  }
  static ProblemReport ranked_problem() {
    ProblemReport report = sample_problem();
    report.ranking = {sample_result(1, sample_measurement(100.0))};
    report.ranking[0].rank = 1;
    report.device_uuid = "GPU-1";
    return report;
  }
  static void finish(StoreLog& log, bool finished) {
    Result result = ranked_problem().ranking[0];
    result.rank = 0;
    log.add(result, {nullptr, sample_launch(), finished});
    log.end_problem(ranked_problem(), finished);
  }
};

TEST_F(StoreLogTest, AJournalIsTakenOverAndAddedTo) {
  begin()->journal(sample(1.0));
  auto second = begin();
  EXPECT_TRUE(second->continues());
  EXPECT_EQ(times(second->take_over_journal()), std::vector{1.0});
  second->journal(sample(2.0));
  EXPECT_EQ(times(begin()->take_over_journal()), (std::vector{1.0, 2.0}));
}

TEST_F(StoreLogTest, AJournalThatDoesNotFitIsBegunAnew) {
  begin()->journal(sample(1.0));
  auto second = begin();
  EXPECT_EQ(second->take_over_journal().size(), 1U);
  second->drop_journal();
  second->journal(sample(2.0));
  EXPECT_EQ(times(begin()->take_over_journal()), std::vector{2.0});
}

TEST_F(StoreLogTest, ARunThatIsKilledBeforeItTakesOverLosesNothing) {
  begin()->journal(sample(1.0));
  static_cast<void>(begin());
  EXPECT_EQ(times(begin()->take_over_journal()), std::vector{1.0});
}

TEST_F(StoreLogTest, AFreshRunTakesNothingOver) {
  begin()->journal(sample(1.0));
  finish(*begin(), true);
  auto fresh = begin(true);
  EXPECT_FALSE(fresh->recall_problem());
  EXPECT_TRUE(fresh->take_over_journal().empty());
}

TEST_F(StoreLogTest, AFinishedProblemIsTakenWholeAgainAndAgain) {
  finish(*begin(), true);
  for (int i = 0; i < 3; ++i) {
    const auto report = begin()->recall_problem();
    ASSERT_TRUE(report) << i;
    ASSERT_EQ(report->ranking.size(), 1U);
    EXPECT_EQ(report->ranking[0].rank, 1);
    EXPECT_TRUE(report->ranking[0].reused);
    EXPECT_EQ(report->device_uuid, "GPU-1");
  }
}

TEST_F(StoreLogTest, OneThatWasInterruptedGoesOnWithItsJournal) {
  auto first = begin();
  first->journal(sample(1.0));
  finish(*first, false);
  auto second = begin();
  EXPECT_FALSE(second->recall_problem());
  EXPECT_FALSE(second->recall(ranked_problem().ranking[0], sample_launch()));
  EXPECT_EQ(times(second->take_over_journal()), std::vector{1.0});
}

TEST_F(StoreLogTest, AStoreThatFailsUnderWayIsGoneOnWithout) {
  begin()->journal(sample(1.0));
  auto log = begin();
  open().execute("CREATE UNIQUE INDEX full ON journal (seq)");  // the second run's event fails
  EXPECT_EQ(times(log->take_over_journal()), std::vector{1.0});
  EXPECT_FALSE(log->keeps());
  log->journal(sample(2.0));
  finish(*log, true);
  EXPECT_FALSE(log->recall_problem());
}

}  // namespace
}  // namespace fatune

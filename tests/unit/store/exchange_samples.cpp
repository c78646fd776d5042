#include "unit/store/exchange_samples.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "model/record_json.hpp"
#include "unit/store/run_samples.hpp"

namespace fatune {
namespace {

Result ranked_result(int number, const std::string& family, double us, int rank) {
  Result result = sample_result(number, sample_measurement(us));
  result.config.family = family;
  result.rank = rank;
  result.tie_group = rank;
  return result;
}

std::vector<Result> sample_failures() {
  std::vector<Result> failures;
  int number = 10;
  for (const Outcome& outcome :
       {Outcome(CompileFailed{"error: \xff"}), Outcome(Crashed{"illegal address"}),
        Outcome(TimedOut{5000.0}), Outcome(WrongResult{{}, "off by 3"}),
        Outcome(Pruned{"rule", "too large"}), Outcome(Serialized{"C7512"}),
        Outcome(Unlaunchable{"threads"}), Outcome(Implausible{1.0, 2.0, "too fast"}),
        Outcome(Flagged{{}, "race"}), Outcome(Invalid{"rule", "odd"})}) {
    failures.push_back(sample_result(number++, outcome));
  }
  return failures;
}

Result audited_result() {
  Result result = sample_result(14, sample_measurement(150.0));  // is also one of the failures
  result.pruned_by = "rule";
  return result;
}

}  // namespace

RunReport sample_tuning() {
  RunReport run = sample_run().header;
  run.complete = true;
  run.gpus = 1;
  ProblemReport first = sample_problem(512);
  first.measuring = MeasuringSummary{};
  first.ranking = {ranked_result(1, "toy", 100.0, 1), ranked_result(1, "other", 101.0, 2),
                   ranked_result(2, "toy", 1234.5678, 3)};
  first.failures = sample_failures();
  first.audited = {audited_result()};
  ProblemReport second = sample_problem(1024);
  second.ranking = {ranked_result(1, "toy", 300.0, 1)};
  run.problems = {first, second};
  return run;
}

RunPart sample_part() { return parts_of(sample_tuning()).at(1); }

std::string all_of(const RunReport& run) { return record_text(record_json(run)); }

void expect_bad_file(const std::function<void()>& work, const std::vector<std::string>& parts) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    for (const std::string& part : parts) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  }
}

}  // namespace fatune

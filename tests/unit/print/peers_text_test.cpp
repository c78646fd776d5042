#include "print/comparisons.hpp"

#include <gmock/gmock.h>

#include "print/document/document.hpp"
#include "print/run_report.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The winner is as fast as the peers on the problem of the sample report, and slower on another.
PeerStudy study() {
  Problem other = sample_report(true).problems[0].problem;
  other.causal = true;
  return {"GPU",
          "",
          "",
          {{sample_report(true).problems[0].problem, 5.0, {}, {{"a", 5.0}, {"b", 3.0}}},
           {other, 4.0, {}, {{"a", 5.0}}},
           {other, {}, {}, {{"a", 5.0}}}}};
}

TEST(PeersText, CountsTheProblemsInWhichTheWinnerHasATime) {
  EXPECT_EQ(peers_sentence(study()),
            "Beside a, b, timed in turns on GPU: fastest in 1 of 2 problems. ");
  EXPECT_THAT(peers_sentence({}), IsEmpty());
}

TEST(PeersText, ARunHearsOfItsOwnProblemsBeforeItsRankings) {
  const std::string line =
      "the winners that fatune ships are the fastest in 1 of 1 of these problems beside a, b "
      "(fatune "
      "report)\n";
  RunReport run = sample_report(true);
  EXPECT_EQ(shipped_beside_peers(run, study()), line);
  const std::string text = render(run_document(run, 0, study()), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_LT(text.find(line), text.find("rank  tie"));
  run.problems[0].problem.window = 7;
  EXPECT_THAT(shipped_beside_peers(run, study()), IsEmpty());
}

}  // namespace
}  // namespace fatune

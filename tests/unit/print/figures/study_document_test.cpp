#include "print/figures/plots.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

StudyReport study_of(RunReport run) {
  StudyReport report;
  report.runs.push_back(std::move(run));
  report.names.emplace_back("run 1");
  report.command = "fatune report 1";
  return report;
}

std::vector<std::string> headings_of(const StudyReport& report) {
  std::vector<std::string> headings;
  for (const Block& block : study_blocks(report)) {
    if (const auto* heading = std::get_if<block::Heading>(&block)) {
      headings.push_back(heading->line);
    }
  }
  return headings;
}

/// A result with a measured time of `us` and a parameter x.
Result result_of(double us, const std::string& x, int rank) {
  Result result;
  result.config.family = "family";
  result.short_form = "(" + x + ")";
  result.parameters = {{"x", x}};
  result.facts.emplace();
  result.facts->registers_per_thread = 100 + 10 * rank;
  Measured measured;
  measured.timing.median_us = us;
  measured.timing.median_low_us = us - 1.0;
  measured.timing.median_high_us = us + 1.0;
  measured.timing.samples_us = {us, us};
  measured.timing.stopped_because = rank == 1 ? "target reached" : "eliminated in round 3";
  result.outcome = measured;
  result.rank = rank;
  result.tie_group = rank;
  return result;
}

RunReport run_of(const std::vector<std::int64_t>& lengths) {
  RunReport run;
  run.measured = true;
  run.family = "family";
  run.device.name = "GPU";
  for (const std::int64_t length : lengths) {
    ProblemReport& problem = run.problems.emplace_back();
    problem.problem = Problem{.batch = 1, .seq_len = length, .heads = 2, .d_head = 64};
    problem.measuring.emplace().stopped_because = StopReason::target;
    problem.ranking = {result_of(100.0, "1", 1), result_of(150.0, "2", 2),
                       result_of(300.0, "4", 3)};
  }
  return run;
}

template <typename Drawing>
const Drawing& drawing_of(const std::vector<Plot>& plots, const std::string& id) {
  const auto found = std::ranges::find(plots, id, &Plot::id);
  EXPECT_NE(found, plots.end()) << id;
  return std::get<Drawing>(found->drawing);
}

TEST(StudyDocument, SectionsWithoutDataAreLeftOut) {
  EXPECT_THAT(
      headings_of(study_of(run_of({512}))),
      testing::ElementsAre("What won, and by how much", "Rankings", "What each parameter does",
                           "Configurations", "Resources and limits", "What the race did",
                           "How it was measured, and how to repeat it"));
}

TEST(StudyDocument, ARaceWithFailuresHasTheirSections) {
  const std::vector<std::string> headings = headings_of(study_of(sample_race()));
  EXPECT_THAT(headings, Contains("The GPU during the run"));
  EXPECT_THAT(headings, Contains("What the rules dropped"));
  EXPECT_THAT(headings_of(study_of(sample_report(true))), Contains("What is not in the rankings"));
}

TEST(StudyDocument, DoubtsAreAboveEverything) {
  StudyReport report = study_of(sample_race());
  EXPECT_THAT(study_head(report).warnings, IsEmpty());
  report.runs[0].measured = false;
  report.runs[0].complete = false;
  EXPECT_THAT(study_head(report).warnings,
              testing::ElementsAre(HasSubstr("run 1: NOT MEASURED"), HasSubstr("INCOMPLETE")));
}

TEST(StudyDocument, WinnersAndTheirPeersAreTheLead) {
  StudyReport report = study_of(run_of({512, 1024, 2048}));
  report.peers.push_back({"GPU", "", "", {}});
  for (const double winner_tflops : {7.0, 5.0, 4.0}) {
    report.peers[0].problems.push_back({{}, winner_tflops, {}, {{"a", 5.0}, {"b", 3.0}}});
  }
  report.peers[0].problems.push_back({{}, {}, {}, {{"a", 5.0}}});
  EXPECT_EQ(study_head(report).lead,
            "Winners of 3 problems on GPU: 3 alone in front. Beside a, b, timed in turns on GPU: "
            "fastest in 2 of 3 problems.");
}

TEST(StudyDocument, FiguresHaveNamesOfTheirOwnAndTheirCommands) {
  std::vector<std::string> ids;
  for (const Block& block : study_blocks(study_of(run_of({512, 1024})))) {
    if (const auto* figure = std::get_if<block::Figure>(&block)) {
      EXPECT_EQ(figure->command, "fatune report 1 --format svg --plot " + figure->plot.id);
      ids.push_back(figure->plot.id);
    }
  }
  EXPECT_THAT(ids, SizeIs(testing::Gt(6U)));
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(StudyPlots, TheRankingHasIntervalsAndTheTieOfTheWinner) {
  const RunReport run = run_of({512});
  const Plot plot = ranking_plot(run.problems[0], "ranking", "title", 2);
  const auto& drawing = std::get<XyPlot>(plot.drawing);
  ASSERT_THAT(drawing.series, SizeIs(2));
  EXPECT_EQ(drawing.series[0].points[0].x, 100.0);
  EXPECT_EQ(drawing.series[0].points[0].low, 99.0);
  EXPECT_EQ(drawing.series[1].points[0].high, 151.0);
  EXPECT_THAT(plot.summary, HasSubstr("The first 2 of 3"));
}

TEST(StudyPlots, ThroughputIsOverLengthAndOnlyWithSeveral) {
  EXPECT_THAT(throughput_plots(study_of(run_of({512}))), IsEmpty());
  const auto plots = throughput_plots(study_of(run_of({1024, 512})));
  const auto& points = drawing_of<XyPlot>(plots, "throughput-1").series[0].points;
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0].x, 512.0);
  EXPECT_DOUBLE_EQ(points[0].y, 4.0 * 512 * 512 * 64 * 2 / 100.0 * 1e-6);
  EXPECT_DOUBLE_EQ(points[1].y, 4.0 * points[0].y);
}

// 256 and 512 FLOP per byte.
TEST(StudyPlots, CeilingsAreOfTheMemoryIfThatIsNearerEverywhere) {
  RunReport run = run_of({512, 1024});
  run.device.memory_gbps = 2000.0;
  run.device.arch = Arch{90, 'a'};
  run.device.sm_count = 132;
  run.device.clock_khz = 1980000;
  run.problems[0].memory = MemoryRate{1500.0};
  const auto ceilings = [&] {
    const auto plots = throughput_plots(study_of(run));
    std::vector<PlotSeries> series = drawing_of<XyPlot>(plots, "throughput-1").series;
    std::erase_if(series, [](const PlotSeries& one) { return one.shape != SeriesShape::rule; });
    return series;
  };
  const auto of_memory = ceilings();
  ASSERT_THAT(of_memory, SizeIs(2));
  EXPECT_EQ(of_memory[0].name, "memory's bandwidth");
  EXPECT_DOUBLE_EQ(of_memory[0].points.at(1).y, 2000e-3 * 512);
  EXPECT_DOUBLE_EQ(of_memory[1].points.at(0).y, 1500e-3 * 256);
  run.device.memory_gbps = 3000.0;  // the ridge is at 357 FLOP per byte
  const auto of_products = ceilings();
  ASSERT_THAT(of_products, SizeIs(1));
  EXPECT_EQ(of_products[0].name, "nominal peak");
}

TEST(StudyPlots, PeersAreBesideTheWinnersOfTheirOwnRounds) {
  StudyReport report = study_of(run_of({512, 1024}));
  report.peers.push_back({"GPU", "", "", {}});
  for (const ProblemReport& problem : report.runs[0].problems) {
    report.peers[0].problems.push_back({problem.problem, 7.0, {}, {{"other", 5.0}}});
  }
  const auto plots = throughput_plots(report);
  const auto& series = drawing_of<XyPlot>(plots, "throughput-1").series;
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[0].name, "fatune");
  EXPECT_EQ(series[0].points[0].y, 7.0);
  EXPECT_EQ(series[1].name, "other");
}

TEST(StudyPlots, PeersOnSeveralGpusAreNotMixed) {
  StudyReport report = study_of(run_of({512, 1024}));
  for (const auto& [device, tflops] : {std::pair{"GPU A", 7.0}, std::pair{"GPU B", 4.0}}) {
    PeerStudy& study = report.peers.emplace_back(PeerStudy{device, "", "", {}});
    for (const ProblemReport& problem : report.runs[0].problems) {
      study.problems.push_back({problem.problem, tflops, {}, {{"other", 5.0}}});
    }
  }
  const auto plots = throughput_plots(report);
  EXPECT_THAT(plots[0].title, testing::EndsWith(", GPU A"));
  EXPECT_THAT(plots[1].title, testing::EndsWith(", GPU B"));
  EXPECT_EQ(drawing_of<XyPlot>(plots, "throughput-1").series[0].points[0].y, 7.0);
  EXPECT_EQ(drawing_of<XyPlot>(plots, "throughput-2").series[0].points[0].y, 4.0);

  const Table table = peers_table(report);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "GPU B");
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][3]), 1.4);
  EXPECT_DOUBLE_EQ(std::get<double>(table.rows[1][3]), 0.8);
}

TEST(StudyPlots, TheMapHasACellForEachProblem) {
  const auto plots = winner_maps(study_of(run_of({512, 1024})));
  const auto& map = drawing_of<HeatMap>(plots, "winners");
  EXPECT_THAT(map.x.categories, testing::ElementsAre("512", "1024"));
  ASSERT_THAT(map.cells, SizeIs(2));
  EXPECT_THAT(map.cells[0].label, HasSubstr("the runner-up is 50.0 % slower"));
}

TEST(StudyPlots, RunsAreComparedWithTheFirst) {
  StudyReport report = study_of(run_of({512, 1024}));
  report.runs.push_back(run_of({1024}));
  report.names.emplace_back("after");
  report.runs[1].problems[0].ranking.erase(report.runs[1].problems[0].ranking.begin());
  const auto plots = change_maps(report);
  ASSERT_THAT(plots, SizeIs(1));
  const auto& map = std::get<HeatMap>(plots[0].drawing);
  ASSERT_THAT(map.cells, SizeIs(1));
  EXPECT_NEAR(map.cells[0].value, 100.0 / 150.0, 1e-12);
  EXPECT_EQ(map.middle, 1.0);
}

TEST(StudyPlots, LinesOfTheParallelPlotAreTheRows) {
  const StudyReport report = study_of(run_of({512, 1024}));
  const StudyRows rows = study_rows(report.runs, 100);
  const auto plots = parallel_plots(report, rows);
  const auto& plot = drawing_of<ParallelPlot>(plots, "parallel-family");
  EXPECT_THAT(plot.lines, SizeIs(6));
  std::vector<std::string> titles;
  std::ranges::transform(plot.axes, std::back_inserter(titles), &Axis::title);
  EXPECT_THAT(titles, testing::ElementsAre("length", "x", "registers", "slower %"));
  EXPECT_EQ(plot.lines[2].row, 2);
  EXPECT_NEAR(*plot.lines[2].values[3], 200.0, 1e-9);
}

TEST(StudyPlots, TheParetoFrontHasWhatNothingBeats) {
  const StudyReport report = study_of(run_of({512}));
  const auto plots = resource_plots(study_rows(report.runs, 100));
  const auto& plot = drawing_of<XyPlot>(plots, "time-over-registers");
  EXPECT_EQ(plot.series.back().name, "Pareto front");
  EXPECT_THAT(plot.series.back().points, SizeIs(1));  // the fastest also has the fewest registers
}

TEST(StudyPlots, ARaceLosesConfigurationsByRounds) {
  const RunReport run = run_of({512});
  const auto plots = race_plots(run.problems[0], "1", "title");
  const auto& left = drawing_of<XyPlot>(plots, "race-1").series[0].points;
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_EQ(left[0].y, 3.0);
  EXPECT_EQ(left[1].x, 3.0);
  EXPECT_EQ(left[1].y, 1.0);
}

TEST(StudyPlots, ReadingsOfAProblemAreSpreadOverItsTime) {
  StudyReport report = study_of(run_of({512, 1024}));
  auto& problems = report.runs[0].problems;
  for (ProblemReport& problem : problems) {
    problem.measuring.emplace().elapsed_s = 10.0;
    problem.conditions.emplace().readings = 9;
    problem.conditions->sm_mhz_median = 1500.0;
  }
  problems[1].conditions->timeline = {{1980.0, 400.0, 50.0, 0}, {1800.0, 700.0, 60.0, 0}};
  const auto plots = condition_plots(report);
  const auto& points = drawing_of<XyPlot>(plots, "clock").series[0].points;
  ASSERT_THAT(points, SizeIs(3));
  EXPECT_EQ(points[0].x, 5.0);  // the first problem has no timeline
  EXPECT_EQ(points[0].y, 1500.0);
  EXPECT_EQ(points[1].x, 12.5);
  EXPECT_EQ(points[1].y, 1980.0);
  EXPECT_EQ(points[2].x, 17.5);
  EXPECT_EQ(drawing_of<XyPlot>(plots, "power").series[0].points[2].y, 700.0);
}

TEST(StudyPlots, EstimatesHaveNoFigureOfClocksAndHeat) {
  StudyReport report = study_of(sample_race());
  EXPECT_THAT(condition_plots(report), SizeIs(3));
  report.runs[0].measured = false;
  EXPECT_THAT(condition_plots(report), IsEmpty());
  EXPECT_THAT(headings_of(report), Not(Contains("The GPU during the run")));
}

TEST(StudyPlots, ManyReadingsAreThinned) {
  StudyReport report = study_of(run_of(std::vector<std::int64_t>(40, 512)));
  for (ProblemReport& problem : report.runs[0].problems) {
    problem.conditions.emplace().readings = 9;
    problem.conditions->timeline.assign(48, {1980.0, 400.0, 50.0, 0});
  }
  const auto plots = condition_plots(report);
  EXPECT_THAT(drawing_of<XyPlot>(plots, "clock").series[0].points, SizeIs(40 * 12));
}

TEST(StudyTables, RulesCountWhatTheyDroppedOnAllProblems) {
  StudyReport report = study_of(run_of({512, 1024}));
  for (ProblemReport& problem : report.runs[0].problems) {
    problem.audit = {{"a", 20, 0, 0.0, 0.0, "", 0.0}, {"b", 3, 0, 0.0, 0.0, "", 0.0}};
  }
  const Table table = rules_table(report);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(table.rows[1],
              testing::ElementsAre(FieldValue{}, FieldValue{std::string("b")},
                                   FieldValue{std::int64_t{6}}, FieldValue{std::int64_t{2}}));
  EXPECT_THAT(audit_table(report).rows, IsEmpty());
}

TEST(StudyPlots, CountersMakeARoofline) {
  StudyReport report = study_of(run_of({512}));
  EXPECT_THAT(roofline_plots(report), IsEmpty());
  auto& measured = std::get<Measured>(report.runs[0].problems[0].ranking[0].outcome);
  measured.counters = {{"duration_us", 100.0}, {"dram_mb", 2.0}};
  const auto plots = roofline_plots(report);
  const auto& point = drawing_of<XyPlot>(plots, "roofline").series[0].points[0];
  EXPECT_DOUBLE_EQ(point.x, 4.0 * 512 * 512 * 64 * 2 / 2e6);
}

TEST(ProblemGroup, LeavesOutBatchAndLength) {
  const Problem problem{.batch = 4, .seq_len = 512, .heads = 2, .d_head = 64, .causal = true};
  EXPECT_EQ(group_name(problem), "h2 d64 FP16 causal");
  EXPECT_EQ(group_name_without_mask(problem), "h2 d64 FP16");
}

}  // namespace
}  // namespace fatune

// Tests `fatune report` and `show --plot`. tests/scripts/report_browser_test.py tests the page in a
// browser.
#include "cli/hostile_texts.hpp"
#include "cli/program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class Report : public ProgramTest {
 protected:
  /// A best_configs.json with some of the shipped problems.
  static json shipped(std::size_t problems) {
    std::ifstream file(FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json");
    json best = json::parse(file);
    json& list = best["problems"];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(problems), list.end());
    return best;
  }

  /// One problem with this number of runners-up, all different.
  static json with_runners_up(std::size_t count) {
    json best = shipped(1);
    json& problem = best["problems"][0];
    json& ranking = problem["ranking"];
    const json first = ranking[1];
    ranking.erase(ranking.begin() + 1, ranking.end());
    for (std::size_t i = 0; i < count; ++i) {
      json other = first;
      other["rank"] = i + 2;
      other["time_us"] = 50.0 + 0.1 * static_cast<double>(i);
      other["config"] =
          "(ws, FP16, 64, 192, 128, 2, 12, " + std::to_string(i) + "): overlap+lazy+slots_2";
      other["registers_per_thread"] = 100 + i % 60;
      other["parameters"]["BLOCK_N"] = 64 + 16 * (i % 9);
      other["parameters"]["overlap"] = i % 2 == 0;
      ranking.push_back(other);
    }
    return best;
  }

  std::string page_of(const json& results, const std::vector<std::string>& more = {}) {
    write("in.json", results.dump());
    std::vector<std::string> arguments{"report", path("in.json"), "--out", path("page.html")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_ok(fatune(arguments));
    return read("page.html");
  }
};

TEST_F(Report, WhatFatuneShipsIsOneSelfContainedPage) {
  const ProcessResult result = fatune({"report", "--out", path("report.html")});
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("report.html: "));
  const std::string page = read("report.html");
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("default-src 'none'"), HasSubstr("Beside others: h16 d128 BF16"),
                    HasSubstr("<td class=t>cudnn<td>72"), HasSubstr("Redistributions")));
  EXPECT_THAT(page, Not(testing::ContainsRegex("(src|href)=\"?(http|//|file)")));
  EXPECT_EQ(count_of(page, "<script>"), 1U);
  EXPECT_EQ(count_of(page, "style=\""), 0U);
}

TEST_F(Report, ShowsWhatFatuneShipsForTheGpuThatIsNamed) {
  const std::vector<std::string> figure{"report", "--format", "svg", "--plot", "throughput-11"};
  std::vector<std::string> of_h200 = figure;
  of_h200.insert(of_h200.end(), {"--gpu", "H200"});
  EXPECT_EQ(fatune(of_h200).out, fatune(figure).out);
  expect_ok(fatune({"report", "--gpu", "h200", "--out", path("report.html")}));
  EXPECT_THAT(read("report.html"), HasSubstr("fatune report --gpu h200 --format svg"));
  expect_error(fatune({"report", "--gpu", "V100"}), ExitCode::usage,
               {"--gpu", "'V100'", "NVIDIA H200"});
  expect_error(fatune({"report", "last", "--gpu", "h200"}), ExitCode::usage, {"--gpu", "INPUT"});
}

TEST_F(Report, TheFigureOfTheReadmeIsWhatFatuneDraws) {
  const ProcessResult drawn = fatune({"report", "--format", "svg", "--plot", "throughput-11"});
  expect_ok(drawn);
  expect_golden(drawn.out, "../../docs/figures/beside_others.svg");
}

TEST_F(Report, FourHundredAndEightyConfigurationsAreBelow600KB) {
  const std::string page = page_of(with_runners_up(479));
  EXPECT_LT(page.size(), 600000U);
  EXPECT_EQ(count_of(page, "<tr data-row="), 480U);
}

TEST_F(Report, SaysOfWhichConfigurationsItShowsASample) {
  const std::string page = page_of(with_runners_up(479), {"--rows", "100"});
  EXPECT_EQ(count_of(page, "<tr data-row="), 100U);
  EXPECT_THAT(page, HasSubstr("A sample: 100 of 480 configurations"));
}

TEST_F(Report, EveryFigureSaysTheCommandThatDrawsItAgain) {
  const std::string page = page_of(with_runners_up(20));
  const std::regex figure("<figure id=\"([^\"]+)\">");
  std::size_t figures = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), figure), end; at != end; ++at) {
    const std::string id = (*at)[1];
    EXPECT_THAT(page, HasSubstr("fatune report " + path("in.json") + " --format svg --plot " + id +
                                "</pre>"));
    const ProcessResult alone =
        fatune({"report", path(path("in.json")), "--format", "svg", "--plot", id});
    EXPECT_THAT(alone.out, AllOf(StartsWith("<svg "), HasSubstr("xmlns=")));
    ++figures;
  }
  EXPECT_GT(figures, 5U);
}

TEST_F(Report, WritesAllFiguresToAFolder) {
  write("in.json", with_runners_up(20).dump());
  expect_ok(
      fatune({"report", path(path("in.json")), "--format", "svg", "--out", path(path("figures"))}));
  EXPECT_TRUE(std::filesystem::exists(path("figures/ranking-1.svg")));
  EXPECT_TRUE(std::filesystem::exists(path("figures/values-BLOCK_N.svg")));
}

TEST_F(Report, ShowsRunsBesideEachOther) {
  json faster = shipped(2);
  for (json& problem : faster["problems"]) {
    json& time_us = problem["ranking"][0]["time_us"];
    time_us = time_us.get<double>() / 1.25;
  }
  write("before.json", shipped(2).dump());
  write("after.json", faster.dump());
  expect_ok(fatune({"report", path(path("before.json")), path(path("after.json")), "--out",
                    path(path("page.html"))}));
  EXPECT_THAT(read("page.html"),
              AllOf(HasSubstr("after.json compared with before.json"), HasSubstr(">1.25<")));
}

TEST_F(Report, StandardOutputTakesThePage) {
  write("in.json", shipped(1).dump());
  const ProcessResult result = fatune({"report", path(path("in.json")), "--out", "-"});
  expect_ok(result);
  EXPECT_THAT(result.out, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(result.err, "");
}

TEST_F(Report, AStoredRunHasItsRaceAndItsRules) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune({"sweep", "--space", kFewSpace, "--seq", "128,256", "--db", path("runs.db")}));
  expect_ok(fatune({"report", "last", "--db", path("runs.db"), "--out", path("report.html")}));
  EXPECT_THAT(read("report.html"),
              AllOf(HasSubstr("What the race did"), HasSubstr("How it was measured"),
                    HasSubstr("fatune sweep"), HasSubstr("fatune report last")));
  const ProcessResult shown = fatune({"show", "last", "--plot", "--db", path("runs.db")});
  expect_ok(shown);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("sequence length"), HasSubstr("└")));
}

TEST_F(Report, SaysThatNothingWasMeasuredAboveEverythingElse) {
  json results = shipped(1);
  results["measured"] = false;
  results["estimate_orders"] = {
      {"flash_sm90", "the order of flash_sm90's estimates means nothing"}};
  const std::string page = page_of(results);
  EXPECT_THAT(page, HasSubstr("<p class=\"warning\">in.json: the order of flash_sm90"));
  EXPECT_THAT(page, HasSubstr("<body>\n<header><p class=\"warning\">in.json: NOT MEASURED"));
  EXPECT_THAT(page, AllOf(HasSubstr("<p class=\"lead\">Estimate: fastest of"),
                          HasSubstr("How it was estimated")));
}

TEST_F(Report, TheWinnersComeFirst) {
  const std::string page = page_of(shipped(3));
  const std::size_t sentence =
      page.find("<p class=\"lead\">Winners of 3 problems on NVIDIA H200: ");
  const std::size_t table = page.find("<table class=\"stacked\">");
  ASSERT_NE(sentence, std::string::npos);
  EXPECT_LT(sentence, table);
  EXPECT_LT(table, page.find("<nav"));
  EXPECT_LT(table, page.find("<figure"));
}

TEST_F(Report, TheWinnersBesideOthersAreCounted) {
  expect_ok(fatune({"report", "--out", path("report.html")}));
  EXPECT_THAT(read("report.html"), HasSubstr("timed in turns on NVIDIA H200: fastest in 72 of 72"));
  std::ifstream file(FATUNE_SOURCE_DIR "/configs/peers/nvidia-h200.json");
  json peers = json::parse(file);
  peers["rows"].erase(peers["rows"].begin() + 2, peers["rows"].end());
  const std::string best = peers["rows"][0]["best"];
  peers["rows"][0]["candidates"][best]["tflops"] = 1.0;
  write("peers.json", peers.dump());
  EXPECT_THAT(page_of(shipped(1), {path("peers.json")}),
              HasSubstr(": fastest in 1 of 2 problems."));
}

TEST_F(Report, FilesOfOneNameAreToldApartByFolderDeviceAndDate) {
  for (const char* folder : {"a/one", "b/one", "c/two"}) {
    std::filesystem::create_directories(path(folder));
    json results = shipped(2);
    results["started_at"] = std::string("2026-01-02T03:04:0") + (folder[0] == 'a' ? "1Z" : "2Z");
    write(std::string(folder) + "/results.json", results.dump());
  }
  expect_ok(
      fatune({"report", path("a/one/results.json"), path("b/one/results.json"),
              path("c/two/results.json"), path("c/two/results.json"), "--out", path("page.html")}));
  const std::string page = read("page.html");
  for (const char* name :
       {"a/one/results.json", "b/one/results.json", "two/results.json", "two/results.json (2)"}) {
    EXPECT_THAT(page, HasSubstr("<tr><td class=t>" + std::string(name) +
                                "<td class=t>NVIDIA H200<td class=t>2026-01-02T03:04:0"));
  }
}

// Arbitrary texts in a results file have no effect in the page.
class HostileReport : public Report, public testing::WithParamInterface<std::string_view> {};

TEST_P(HostileReport, TextsDoNothing) {
  const std::string text = hostile_text(GetParam());
  json best = shipped(2);
  best["command_line"] = text;
  best["family"] = text;
  best["device"]["name"] = text;
  for (json& problem : best["problems"]) {
    for (json* result : {&problem["ranking"][0], &problem["ranking"][1]}) {
      (*result)["config"] = text;
      (*result)["family"] = text;
      (*result)["kernel_name"] = text;
      (*result)["parameters"]["variant"] = text;
      (*result)["parameters"][text] = "1";
    }
  }
  const std::string page = page_of(best);
  EXPECT_EQ(count_of(page, "<script"), 1U);
  EXPECT_EQ(count_of(page, "<img"), 0U);
  EXPECT_EQ(count_of(page, "onload="), count_of(page, "onload=&quot;"));
  EXPECT_EQ(page.find('\0'), std::string::npos);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
  expect_ok(
      fatune({"report", path(path("in.json")), "--format", "svg", "--out", path(path("figures"))}));
  for (const auto& entry : std::filesystem::directory_iterator(path("figures"))) {
    const std::string svg = read("figures/" + entry.path().filename().string());
    EXPECT_EQ(count_of(svg, "<script"), 0U);
    EXPECT_EQ(count_of(svg, "<img"), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, HostileReport, testing::ValuesIn(kHostileTexts));

TEST_F(Report, NamesWhatIsWrong) {
  write("in.json", with_runners_up(3).dump());
  write("broken.json", "{\"format\": \"fatune.results\", ");
  write("other.json", "{\"format\": \"something\"}");
  write("text.txt", "hello");
  expect_error(fatune({"report", path(path("in.json")), "--plot", "ranking-1"}), ExitCode::usage,
               {"--plot", "--format svg"});
  expect_error(fatune({"report", path(path("in.json")), "--format", "svg"}), ExitCode::usage,
               {"--out"});
  expect_error(fatune({"report", path(path("in.json")), "--format", "svg", "--plot", "nothing"}),
               ExitCode::usage, {"'nothing'", "ranking-1"});
  expect_error(fatune({"report", path(path("in.json")), "--format", "pdf"}), ExitCode::usage,
               {"pdf", "svg"});
  expect_error(fatune({"report", path(path("broken.json"))}), ExitCode::bad_file, {"broken.json"});
  expect_error(fatune({"report", path(path("other.json"))}), ExitCode::bad_file,
               {"other.json", "format"});
  expect_error(fatune({"report", path(path("text.txt"))}), ExitCode::bad_file, {"text.txt"});
  expect_error(fatune({"report", path(path("missing.json"))}), ExitCode::bad_file,
               {"missing.json"});
  expect_error(fatune({"report", "7", "--db", path("none.db")}), ExitCode::bad_file, {"none.db"});
  expect_error(fatune({"report", FATUNE_SOURCE_DIR "/configs/peers/nvidia-h200.json"}),
               ExitCode::usage, {"none of the inputs is a run"});
  expect_error(fatune({"report", path(path("in.json")), "--out", "/dev/null/page.html"}),
               ExitCode::io, {"/dev/null/page.html"});
}

}  // namespace
}  // namespace fatune::testing_cli

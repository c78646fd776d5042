// Tests what `fatune compare` prints, and its exit codes. tests/unit/study tests its statistics.
#include <algorithm>
#include <fstream>
#include <functional>
#include <utility>

#include <pugixml.hpp>

#include "base/ranges.hpp"
#include "base/visible_text.hpp"
#include "cli/hostile_texts.hpp"
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kConfigs = 12;

class Compare : public ProgramTest {
 protected:
  /// A results.json of one problem: the shipped winner of one, with these times.
  static json results(const std::function<double(std::size_t)>& time_us,
                      std::size_t configs = kConfigs) {
    const json& shipped = first_shipped()["problems"][0];
    json problem = shipped;
    problem["ranking"] = json::array();
    problem["more_ranked"] = problem["more_failed"] = nullptr;
    for (std::size_t i = 0; i < configs; ++i) {
      json result = shipped["ranking"][0];
      result["config"] = fmt::format("(ws, FP16, 64, 192, {}, 2, 12, 3): overlap", 16 * (i + 1));
      result["rank"] = result["tie_group"] = i + 1;
      result["time_us"] = time_us(i);
      result["median_low_us"] = 0.999 * time_us(i);
      result["median_high_us"] = 1.001 * time_us(i);
      problem["ranking"].push_back(result);
    }
    json document = first_shipped();
    document["problems"] = json::array({problem});
    document["started_at"] = "2026-11-23T09:50:18Z";
    return document;
  }
  /// The same, started at another time.
  static json another_run(const std::function<double(std::size_t)>& time_us) {
    json document = results(time_us);
    document["started_at"] = "2026-11-23T10:50:18Z";
    return document;
  }
  /// The file of shipped results, reduced to the first problem.
  static const json& first_shipped() {
    static const json first = [] {
      std::ifstream file(FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json");
      json all = json::parse(file);
      all["problems"].erase(all["problems"].begin() + 1, all["problems"].end());
      return all;
    }();
    return first;
  }
  static double before_us(std::size_t i) { return 100.0 + 5.0 * static_cast<double>(i); }

  /// One configuration is slower, one faster, one wrong, one missing and one added. The others
  /// drift by 1/64.
  static json changed() {
    json after = results(
        [](std::size_t i) {
          return 1.015625 * before_us(i) * (i == 4 ? 1.25 : i == 7 ? 0.8 : 1.0);
        },
        kConfigs + 1);
    json& problem = after["problems"][0];
    json wrong = problem["ranking"][2];
    wrong["outcome"] = "wrong_result";
    wrong["finding"] = "max abs error 0.5, limit 0.002";
    wrong.erase("time_us");
    problem["failures"].push_back(wrong);
    problem["ranking"].erase(9);
    problem["ranking"].erase(2);
    after["toolchain"]["driver"] = "999.1";
    return after;
  }

  /// Compares with a tolerance of 2 % unless `more` has another.
  ProcessResult compare(const json& before, const json& after,
                        const std::vector<std::string>& more = {}) {
    write("before.json", before.dump());
    write("after.json", after.dump());
    std::vector<std::string> arguments{"compare", path("before.json"), path("after.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_.folder = folder_.string();
    arguments[1] = "before.json";
    arguments[2] = "after.json";
    if (!is_among("--tolerance", more)) {
      arguments.insert(arguments.end(), {"--tolerance", "2"});
    }
    return fatune(arguments);
  }
};

TEST_F(Compare, SaysWhatTheCallsOfAWorkloadTake) {
  const auto path = [&](const char* name) { return (folder_ / name).string(); };
  json before = results([](std::size_t i) { return 100.0 + static_cast<double>(i); });
  json after = another_run([](std::size_t i) { return 90.0 + static_cast<double>(i); });
  write("old.json", before.dump());
  write("new.json", after.dump());
  EXPECT_THAT(fatune({"compare", path("old.json"), path("new.json")}).out,
              Not(HasSubstr("of the workload")));
  before["problems"][0]["calls"] = 500.0;
  write("old.json", before.dump());
  EXPECT_THAT(fatune({"compare", path("old.json"), path("new.json")}).out,
              HasSubstr("500 calls of the workload: 50.00 ms with OLD's winners, 45.00 ms with "
                        "NEW's, -10.00 %"));
  const json compared =
      fatune_json({"compare", path("old.json"), path("new.json"), "--format", "json"});
  EXPECT_EQ(compared["problems"][0]["calls"], 500.0);
}

TEST_F(Compare, SaysWhatChangedInEveryFormat) {
  for (const auto& [format, file] : {std::pair{"table", "compare.txt"}, {"md", "compare.md"}}) {
    const ProcessResult result = compare(results(before_us), changed(), {"--format", format});
    EXPECT_EQ(result.exit_code, code_of(ExitCode::worse)) << result.err;
    expect_golden(result.out, file);
  }
  EXPECT_THAT(compare(results(before_us), changed(), {"--format", "csv"}).out,
              AllOf(testing::StartsWith("verdict,problem,run,config,"),
                    HasSubstr("\nslower,b16 s512 h16 d64 FP16,1,\"(ws, FP16, 64, 192, 80,")));
  const ProcessResult result = compare(results(before_us), changed(), {"--format", "json"});
  expect_schema(result.out, "compare");
  const json document = json::parse(result.out);
  EXPECT_TRUE(document["worse"].get<bool>());
  EXPECT_EQ(document["counts"]["failed"], 1);
  EXPECT_EQ(document["counts"]["slower"], 1);
  EXPECT_EQ(document["counts"]["faster"], 1);
  EXPECT_EQ(document["counts"]["gone"], 1);
  EXPECT_EQ(document["counts"]["added"], 1);
  EXPECT_EQ(document["counts"]["equal"], kConfigs - 4);
  EXPECT_EQ(document["differences"], json::array({"driver: 580.159.04, now 999.1"}));
}

// The expected file satisfies the schemas of Jenkins' xunit plugin (junit-10.xsd).
TEST_F(Compare, WritesJUnitForCiSystems) {
  compare(results(before_us), changed(), {"--junit", "junit.xml"});
  expect_golden(read("junit.xml"), "compare_junit.xml");
}

TEST_F(Compare, EqualTimesAreNoWorse) {
  const ProcessResult result = compare(results(before_us), another_run(before_us));
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("12 equal"), HasSubstr("nothing is slower by more than")));
}

TEST_F(Compare, ARunWithItselfIsNotJudged) {
  const ProcessResult result =
      compare(results(before_us), results(before_us), {"--junit", path("junit.xml")});
  EXPECT_EQ(result.exit_code, code_of(ExitCode::undecided));
  EXPECT_THAT(result.out, AllOf(HasSubstr("NOT JUDGED: both times are of one run"),
                                Not(HasSubstr("heat")), Not(HasSubstr("nothing is slower"))));
  EXPECT_THAT(read("junit.xml"), AllOf(HasSubstr("skipped=\"12\""), HasSubstr("<skipped")));
  EXPECT_EQ(json::parse(compare(results(before_us), results(before_us), {"--format", "json"})
                            .out)["not_judged_because"],
            "both times are of one run");
}

TEST_F(Compare, ProblemsThatNewLacksAreNotPassedOver) {
  json before = results(before_us);
  for (int batch = 1; batch <= 3; ++batch) {
    json problem = before["problems"][0];
    problem["problem"]["batch"] = batch;
    before["problems"].push_back(problem);
  }
  const ProcessResult result =
      compare(before, another_run(before_us), {"--junit", path("junit.xml")});
  EXPECT_EQ(result.exit_code, code_of(ExitCode::incomplete));
  EXPECT_THAT(result.out, AllOf(HasSubstr("NEW lacks 3 of OLD's 4 problems"),
                                HasSubstr("INCOMPLETE: of what both have, nothing is slower")));
  EXPECT_THAT(read("junit.xml"), AllOf(HasSubstr("<testsuite name=\"b3 s512 h16 d64 FP16\""),
                                       HasSubstr("NEW lacks the problem")));
  const json document =
      json::parse(compare(before, another_run(before_us), {"--format", "json"}).out);
  EXPECT_EQ(document["missing_problems"].size(), 3U);
  const auto slower =
      another_run([](std::size_t i) { return (i == 4 ? 1.1 : 1.0) * before_us(i); });
  EXPECT_EQ(compare(before, slower).exit_code, code_of(ExitCode::worse));
  expect_ok(compare(another_run(before_us), before));
}

TEST_F(Compare, EstimatesAreNotSaidToBeSlowerByHeat) {
  const auto estimates = [](json document) {
    document["measured"] = false;
    for (json& result : document["problems"][0]["ranking"]) {
      result["outcome"] = "estimated";
      result["estimate_terms"] = json::array();
      result["estimated_from"] = "family";
    }
    return document;
  };
  const ProcessResult result =
      compare(estimates(results(before_us)),
              estimates(another_run([](std::size_t i) { return 1.06 * before_us(i); })));
  EXPECT_EQ(result.exit_code, code_of(ExitCode::undecided));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("a time is an estimate"), HasSubstr("NEW as a whole is 6.0 % slower"),
                    Not(HasSubstr("heat"))));
}

TEST_F(Compare, ATimeThatNoKernelTakesIsRefused) {
  for (const double time_us : {0.0, -1.0, 1e-320, 1e300}) {
    json after = another_run(before_us);
    after["problems"][0]["ranking"][3]["time_us"] = time_us;
    expect_error(compare(results(before_us), after), ExitCode::bad_file,
                 {"after.json: /problems/0/ranking/3/time_us", "not the time of a kernel",
                  "finite and above 0"});
  }
  json after = another_run(before_us);
  after["problems"][0]["ranking"][3]["samples_us"] = {100.0, 0.0};
  expect_error(compare(results(before_us), after), ExitCode::bad_file,
               {"/problems/0/ranking/3/samples_us/1", "0 us is not"});
}

TEST_F(Compare, ASlowdownOfEverythingIsUndecided) {
  const ProcessResult result =
      compare(results(before_us), results([](std::size_t i) { return 1.06 * before_us(i); }));
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("NEW as a whole is 6.0 % slower"), HasSubstr("12 undecided"),
                    HasSubstr("--against"), Not(HasSubstr("12 slower"))));
}

TEST_F(Compare, TheToleranceDecidesWhatIsWorse) {
  const auto after = results([](std::size_t i) { return (i == 4 ? 1.1 : 1.0) * before_us(i); });
  EXPECT_EQ(compare(results(before_us), after).exit_code, code_of(ExitCode::worse));
  const ProcessResult tolerant = compare(results(before_us), after, {"--tolerance", "9"});
  expect_ok(tolerant);
  EXPECT_THAT(tolerant.out, HasSubstr("11 equal"));
}

TEST_F(Compare, AnotherGpuModelIsShownAndNotJudged) {
  json after = changed();
  after["device"]["name"] = "another";
  const ProcessResult result = compare(results(before_us), after);
  EXPECT_EQ(result.exit_code, code_of(ExitCode::undecided));
  EXPECT_THAT(result.out, AllOf(HasSubstr("NOT JUDGED"), Not(HasSubstr("1 slower"))));
}

TEST_F(Compare, WinnersAndRowsMakeTheTableShorter) {
  EXPECT_THAT(compare(results(before_us), changed(), {"--only", "winners"}).out,
              HasSubstr("configurations: 1 equal"));
  EXPECT_THAT(compare(results(before_us), changed(), {"--rows", "3"}).out,
              HasSubstr("... and 10 more: 8 equal, 1 gone, 1 added (--rows 0 shows all)"));
}

TEST_F(Compare, AFileOfWinnersIsNotJudgedAgainstItself) {
  const std::string shipped = FATUNE_SOURCE_DIR "/configs/tuned/nvidia-h200.json";
  const ProcessResult result = fatune({"compare", shipped, shipped});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::undecided)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("winners: 0 of 72 changed"));
}

TEST_F(Compare, StoredRunsAreComparedByNumber) {
  use_gpu_that_never_runs_kernels();
  // Two equal commands that start in one second cannot be told apart.
  for (const char* format : {"table", "csv"}) {
    expect_ok(fatune({"sweep", "--space", kFewSpace, "--seq", "128", "--fresh", "--format", format,
                      "--db", path("runs.db")}));
  }
  const ProcessResult result = fatune({"compare", "1", "last", "--db", path("runs.db")});
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("run 1"), HasSubstr("the last run")));
}

TEST_F(Compare, NamesWhatIsWrong) {
  json other = results(before_us);
  other["problems"][0]["problem"]["seq_len"] = 7;
  expect_error(compare(results(before_us), other), ExitCode::usage, {"no problem in common"});
  expect_error(fatune({"compare", "before.json"}), ExitCode::usage, {"NEW"});
  expect_error(fatune({"compare", "before.json", "missing.json"}), ExitCode::bad_file,
               {"missing.json"});
  expect_error(compare(other, other, {"--only", "losers"}), ExitCode::usage,
               {"--only", "'losers'", "winners"});
  expect_error(compare(other, other, {"--tolerance", "-1"}), ExitCode::usage, {"--tolerance"});
  expect_error(compare(other, other, {"--junit", "/dev/null/x.xml"}), ExitCode::io, {"/dev/null"});
  expect_error(fatune({"compare", FATUNE_SOURCE_DIR "/configs/peers/nvidia-h200.json", "last"}),
               ExitCode::bad_file, {"peers/nvidia-h200.json", "fatune.results"});
}

// Arbitrary texts in a results file have no effect.
class HostileCompare : public Compare, public testing::WithParamInterface<std::string_view> {
 protected:
  static json hostile(json document, const std::string& text) {
    document["command_line"] = document["started_at"] = text;
    document["device"]["name"] = text;
    document["toolchain"]["driver"] = text;
    json& problem = document["problems"][0];
    problem["ranking"][3]["config"] = problem["ranking"][3]["family"] = text;
    json& failure = problem["failures"].emplace_back(problem["ranking"][5]);
    problem["ranking"].erase(5);
    failure["outcome"] = "crashed";
    failure["error"] = text;
    failure.erase("time_us");
    return document;
  }
  /// The output for NEW, which has one failure more.
  std::string printed(const char* format, const std::vector<std::string>& more = {}) {
    const std::string text = hostile_text(GetParam());
    json before = hostile(results(before_us), text);
    before["problems"][0]["failures"].clear();
    before["started_at"] = text + " before";  // else both are the same run
    std::vector<std::string> arguments{"--format", format};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = compare(before, hostile(results(before_us), text), arguments);
    EXPECT_EQ(result.exit_code, code_of(ExitCode::ok)) << result.err;
    return result.out;
  }
};

/// Checks that nothing but line breaks acts on a terminal or changes the direction of writing.
void expect_only_forms(const std::string& text) {
  for (const char c : text) {
    EXPECT_TRUE(c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) >= 0x20U)
        << static_cast<int>(c);
  }
  for (const char* const bad : {"\u202e", "\u2066", "\u009b"}) {
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

TEST_P(HostileCompare, TextsDoNothingOnATerminal) { expect_only_forms(printed("table")); }

TEST_P(HostileCompare, TextsDoNothingInMarkdown) {
  const std::string text = printed("md");
  expect_only_forms(text);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  std::size_t backslashes = 0;
  for (const char c : text) {
    if (backslashes % 2 == 0) {
      EXPECT_EQ(std::string_view("`[]").find(c), std::string_view::npos) << text;
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  EXPECT_THAT(text, Not(HasSubstr("\n# heading")));
}

TEST_P(HostileCompare, TextsDoNothingInASpreadsheet) {
  const std::string text = printed("csv");
  expect_only_forms(text);
  for (const char* const bad : {"\n=", ",=", ",@", ",-2+", "\"=", "\"@", "\"-", ",\t"}) {
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

TEST_P(HostileCompare, TextsAreTextsInJUnit) {
  printed("table", {"--junit", "junit.xml"});
  pugi::xml_document document;
  const std::string xml = read("junit.xml");
  expect_only_forms(xml);
  ASSERT_TRUE(document.load_string(xml.c_str()));
  const std::string shown = visible_text(hostile_text(GetParam()));
  EXPECT_EQ(document.select_node("//testcase[system-out][@classname!='flash_sm90']")
                .node()
                .attribute("name")
                .value(),
            shown);
  EXPECT_EQ(document.select_nodes("//testsuite/*").size(), kConfigs + 1);
}

TEST_P(HostileCompare, FileNamesDoNothing) {
  std::string name(GetParam());
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '\0'; }, '_');
  json other = results(before_us);
  other["started_at"] = "another time";
  write(name, results(before_us).dump());
  write("other " + name, other.dump());
  process_.folder = folder_.string();
  for (const char* const format : {"table", "md", "csv"}) {
    const ProcessResult result = fatune(
        {"compare", "./" + name, "./other " + name, "--format", format, "--junit", "junit.xml"});
    expect_ok(result);
    expect_only_forms(result.out);
    expect_only_forms(read("junit.xml"));
    EXPECT_TRUE(format != std::string("md") || result.out.find('<') == std::string::npos);
  }
}

TEST_P(HostileCompare, TextsDoNothingInErrors) {
  json before = results(before_us);
  before["problems"][0]["ranking"][0]["outcome"] = hostile_text(GetParam());
  const ProcessResult result = compare(before, before);
  EXPECT_EQ(result.exit_code, code_of(ExitCode::bad_file));
  expect_only_forms(result.err);
}

INSTANTIATE_TEST_SUITE_P(Texts, HostileCompare, testing::ValuesIn(kHostileTexts));

}  // namespace
}  // namespace fatune::testing_cli

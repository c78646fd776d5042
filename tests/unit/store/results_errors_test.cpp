#include <gmock/gmock.h>

#include <fmt/format.h>

#include "print/run_report.hpp"
#include "store/results_file.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/base/throws_error.hpp"
#include "unit/print/report_samples.hpp"

namespace fatune {
namespace {

using fixtures::expect_error;

Json sample() { return Json::parse(json_text(results_object(sample_race()))); }

void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
  expect_error([&] { (void)read_results_text(text, "x.json"); }, ExitCode::bad_file, parts);
}

/// The text of the sample with this value at a JSON pointer.
std::string changed_to(const std::string& pointer, const Json& value) {
  Json json = sample();
  json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

std::string without(const std::string& pointer, const std::string& member) {
  Json json = sample();
  json[Json::json_pointer(pointer)].erase(member);
  return json.dump();
}

TEST(ReadResultsErrors, NameThePlaceOfWhatIsNoJson) {
  expect_refused("", {"x.json", "is not valid JSON", "line 1"});
  expect_refused("{\"format\": \"fatune.results\",\n \"x\": [1,,2]}",
                 {"x.json: /x/1", "is not valid JSON", "line 2"});
  expect_refused("{\"format\": 1e999}", {"is not valid JSON", "too big"});
  expect_refused("{\"x\": \"\xff\"}", {"is not valid JSON", "encoding"});
}

TEST(ReadResultsErrors, AFileThatHasBeenCutOff) {
  const std::string text = sample().dump(2);
  for (const std::size_t part : {3U, 5U, 7U}) {
    expect_refused(text.substr(0, text.size() * part / 8), {"is not valid JSON", "line"});
  }
  expect_refused(text + "x", {"is not valid JSON"});
}

TEST(ReadResultsErrors, OtherFormats) {
  for (const char* text : {"{}", "[]", "1", "{\"format\": \"fatune.history\"}", "{\"format\": 1}",
                           "{\"format\": [\"fatune.results\"]}"}) {
    expect_refused(text, {"x.json", "not one of those", "fatune.runs"});
  }
}

TEST(ReadResultsErrors, OtherVersions) {
  expect_refused(changed_to("/format_version", 1), {"/format_version", "version 1", "reads 2"});
  expect_refused(without("", "format_version"), {"/format_version", "version null"});
}

TEST(ReadResultsErrors, TooManyMembers) {
  std::string text = R"({"a": {"0": 0)";
  for (int i = 1; i <= 10'000; ++i) {
    text += fmt::format(R"(,"{}":0)", i);
  }
  expect_refused(text, {"x.json: /a/10000", "more than 10000 members"});
}

TEST(ReadResultsErrors, TooManyLevels) {
  expect_refused(std::string(100000, '['), {"more than 64 levels"});
}

TEST(ReadResultsErrors, AMemberTwice) {
  expect_refused("{\"a\": 1, \"a\": 2}", {"x.json: /a", "twice"});
  expect_refused("{\"parameters\": {\"a\": 1, \"a\": 2}}", {"x.json: /parameters/a", "twice"});
}

TEST(ReadResultsErrors, NameTheMemberThatIsMissing) {
  expect_refused(without("", "measured"), {"x.json: /measured", "is missing"});
  expect_refused(without("/device", "arch"), {"/device/arch", "missing"});
  expect_refused(without("/problems/0", "problem"), {"/problems/0", "problem"});
  expect_refused(without("/problems/0/problem", "seq_len"), {"/problems/0/problem", "seq_len"});
  expect_refused(without("/problems/0/ranking/1", "config"), {"/problems/0/ranking/1/config"});
  expect_refused(without("/problems/0/ranking/1", "time_us"), {"/problems/0/ranking/1/time_us"});
}

TEST(ReadResultsErrors, NameTheMemberThatIsOfAnotherType) {
  const std::string result = "/problems/0/ranking/0";
  for (const char* member : {"rank", "time_us", "config", "reused", "registers_per_thread",
                             "warnings", "outcome", "samples_us", "kernel_name"}) {
    expect_refused(changed_to(result + "/" + member, {{"a", 1}}), {result, member});
  }
  expect_refused(changed_to(result + "/rank", 1e10), {result, "rank"});
  expect_refused(changed_to(result + "/rank", 12345678901234), {result, "rank"});
  expect_refused(changed_to(result + "/parameters", 5), {result, "parameters"});
  expect_refused(changed_to(result + "/parameters/fast", Json::array()), {"parameters", "fast"});
  expect_refused(changed_to(result + "/verification/inputs", 5), {result, "inputs"});
  expect_refused(changed_to("/problems/0/measuring", 5), {"/problems/0/measuring"});
  expect_refused(changed_to("/problems/0/measuring/rounds", "x"), {"/problems/0/measuring/rounds"});
  expect_refused(changed_to("/problems/0/run", "x"), {"/problems/0/run"});
  expect_refused(changed_to("/problems/0/run", 1e30), {"/problems/0/run"});
  expect_refused(changed_to("/problems/0/problem/layout", Json::array()), {"/problems/0/problem"});
  expect_refused(changed_to("/toolchain", 5), {"x.json: /toolchain"});
  expect_refused(changed_to("/policy/strategy", "guess"), {"/policy/strategy", "guess"});
  expect_refused(changed_to("/device/arch", "x"), {"/device/arch"});
}

TEST(ReadResultsErrors, OutcomesThatDoNotExistOrHaveNoPlaceInARanking) {
  const std::string result = "/problems/0/ranking/0";
  expect_refused(changed_to(result + "/outcome", "lost"), {result, "'lost'"});
  expect_refused(changed_to(result, sample()["problems"][0]["failures"][0]), {result, "no time"});
}

TEST(ReadResultsErrors, ListsThatAreNoLists) {
  for (const char* member : {"ranking", "failures", "audited"}) {
    expect_refused(changed_to(std::string("/problems/0/") + member, 5), {"/problems/0", member});
  }
  expect_refused(changed_to("/problems", 5), {"x.json", "problems"});
  expect_refused(changed_to("/problems/0", 5), {"x.json", "problems"});
  expect_refused(changed_to("/problems/0/ranking/0", 5), {"/problems/0", "ranking"});
}

TEST(ReadResultsErrors, FilesThatCannotBeRead) {
  const fixtures::TempFolder folder;
  for (const auto& path : {folder.path() / "none.json", folder.path()}) {
    expect_error([&] { (void)read_results(path); }, ExitCode::bad_file, {path.string()});
  }
  const auto empty = folder.write("empty.json", "");
  expect_error([&] { (void)read_results(empty); }, ExitCode::bad_file, {"empty.json"});
}

TEST(ReadResultsErrors, MembersOfLaterVersionsAreSkipped) {
  Json json = sample();
  json["later"] = {{"deep", Json::array({1, Json::array({Json::object()})})}};
  json["problems"][0]["later"] = "x";
  json["problems"][0]["ranking"][0]["later"] = Json::array({1, 2});
  EXPECT_EQ(read_results_text(json.dump(), "x").at(0).problems.at(0).ranking.size(), 2U);
}

}  // namespace
}  // namespace fatune

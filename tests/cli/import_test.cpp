// Tests `fatune import`, and `fatune export --to` with the formats that it reads. Neither needs a
// GPU.
#include "cli/program.hpp"

#include <filesystem>
#include <set>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Import : public ProgramTest {
 protected:
  /// Stores two problems in runs.db.
  void sweep() {
    // One is the fastest beyond doubt: tied configurations are not ordered by their medians.
    const std::string fastest =
        "128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
    use_fake_worker({{"us", {{"128, 64, 64, 4", 120.0}, {fastest, 80.0}}}});
    expect_ok(fatune({"sweep", "--seq", "256,512", "--dhead", "128", "--dtype", "fp16", "--batch",
                      "1", "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "--db",
                      path("runs.db"), "-q"}));
  }
  /// Exports the run to files that begin with `name`, and returns their list.
  json exported(const std::string& format, const std::string& name) {
    const json list = fatune_json({"export", "--run", "last", "--db", path("runs.db"), "--to",
                                   format, "--out", path(name), "--format", "json"});
    expect_schema(list.dump(), "export_files");
    return list["files"];
  }
  ProcessResult import_files(const json& files, const std::vector<std::string>& more = {},
                             const std::string& db = "imported.db") {
    std::vector<std::string> arguments{"import", "--db", path(db), "--format", "json"};
    for (const json& file : files) {
      arguments.push_back(file["file"]);
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
  std::string shown(const std::string& db) {
    return fatune({"show", "last", "--db", path(db), "--format", "json"}).out;
  }
  /// The file without fatune's records, as another program could have written it.
  std::string foreign(const json& file) {
    json content = json::parse(read(std::filesystem::path(file["file"]).filename()));
    content.erase("fatune");
    if (content.contains("metadata")) {
      content["metadata"].erase("fatune");
    }
    write("foreign.json", content.dump());
    return path("foreign.json");
  }
  void expect_nothing_stored() {
    EXPECT_TRUE(
        !std::filesystem::exists(path("imported.db")) ||
        fatune_json({"history", "--db", path("imported.db"), "--format", "json"})["runs"].empty());
  }

  const std::vector<std::string> problem_{"--seq",   "256", "--dhead", "128",
                                          "--batch", "1",   "--arch",  "sm_90"};
};

TEST_F(Import, WhatWasExportedComesBackWhole) {
  sweep();
  for (const std::string format : {"t4", "kernel-tuner-cache"}) {
    const json files = exported(format, format + ".json");
    ASSERT_EQ(files.size(), 2U);
    EXPECT_THAT(std::string(files[0]["file"]), HasSubstr(".b1_s256_h16_d128_FP16.flash_sm80.json"));
    const ProcessResult result = import_files(files);
    expect_ok(result);
    expect_schema(result.out, "import");
    EXPECT_EQ(json::parse(result.out)["runs"][0]["complete"], true);
    EXPECT_EQ(shown("imported.db"), shown("runs.db")) << format;
  }
  EXPECT_EQ(
      fatune_json({"history", "--db", path("imported.db"), "--format", "json"})["runs"].size(), 2U);
}

TEST_F(Import, OneOfTwoProblemsIsARunThatIsNotComplete) {
  sweep();
  json files = exported("t4", "t4.json");
  files.erase(0);
  const json runs = json::parse(import_files(files).out)["runs"];
  EXPECT_EQ(runs[0]["problems"], 1);
  EXPECT_EQ(runs[0]["complete"], false);
}

TEST_F(Import, ImportedRunsAreNotTakenForMeasurements) {
  sweep();
  const json files = exported("t4", "t4.json");
  expect_ok(import_files(files, {}, "runs.db"));
  const json again =
      fatune_json({"sweep", "--seq", "256,512", "--dhead", "128", "--dtype", "fp16", "--batch", "1",
                   "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "--db",
                   path("runs.db"), "--format", "json"});
  EXPECT_EQ(again["problems"][0]["ranking"][0]["reused"], false);
}

TEST_F(Import, ResultsOfAnotherProgramNeedTheirProblemAndGpu) {
  sweep();
  for (const std::string format : {"t4", "kernel-tuner-cache"}) {
    const json file{{"file", foreign(exported(format, format + ".json")[0])}};
    expect_error(import_files(json::array({file})), ExitCode::usage,
                 {"foreign.json", "which attention problem", "--seq 4096"});
    expect_error(import_files(json::array({file}), {"--seq", "256"}), ExitCode::usage,
                 {"foreign.json", "architecture", "--arch sm_90"});
    expect_error(import_files(json::array({file}), {"--seq", "256,512", "--arch", "sm_90"}),
                 ExitCode::usage, {"several problems"});
  }
  expect_nothing_stored();
}

TEST_F(Import, ResultsOfAnotherProgramAreRankedAndNotVerified) {
  sweep();
  const json cache{{"file", foreign(exported("kernel-tuner-cache", "cache.json")[0])}};
  expect_ok(import_files(json::array({cache}), problem_));
  const std::string text = shown("imported.db");
  expect_schema(text, "results");
  const json run = json::parse(text);
  EXPECT_EQ(run["imported_from"], path("foreign.json"));
  EXPECT_EQ(run["device"]["name"], "Scripted GPU");
  const json measured = json::parse(shown("runs.db"));
  const json& best = run["problems"][0]["ranking"][0];
  EXPECT_TRUE(best["verified"].is_null());
  EXPECT_EQ(best["config"], measured["problems"][0]["ranking"][0]["config"]);
  EXPECT_EQ(best["time_us"], measured["problems"][0]["ranking"][0]["time_us"]);
  EXPECT_THAT(fatune({"show", "last", "--db", path("imported.db")}).out, HasSubstr("times of /"));
  const json table =
      fatune_json({"export", "--run", "last", "--db", path("imported.db"), "--format", "json"});
  EXPECT_EQ(table["rows"].size(), 1U);
  EXPECT_FALSE(table["rows"][0]["sources_recorded"]);
}

TEST_F(Import, T4OfAnotherProgramNeedsTheNameOfTheGpu) {
  sweep();
  const json file{{"file", foreign(exported("t4", "t4.json")[0])}};
  expect_error(import_files(json::array({file}), problem_), ExitCode::usage,
               {"which GPU", "--gpu"});
  std::vector<std::string> named = problem_;
  named.insert(named.end(), {"--gpu", "NVIDIA H200"});
  expect_ok(import_files(json::array({file}), named));
  EXPECT_EQ(json::parse(shown("imported.db"))["device"]["name"], "NVIDIA H200");
}

// The name is in headings, tables and sentences.
TEST_F(Import, TheNameOfAGpuHasNoEffect) {
  sweep();
  foreign(exported("kernel-tuner-cache", "cache.json")[0]);
  json cache = json::parse(read("foreign.json"));
  cache["device_name"] = "\x1b[31mRED\b\u202e <img src=x>|a|\r\n# h";
  write("foreign.json", cache.dump());
  expect_ok(import_files(json::array({{{"file", path("foreign.json")}}}), problem_));
  const std::string db = path("imported.db");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"show", "last", "--db", db},
           {"export", "--run", "last", "--db", db},
           {"history", "--db", db},
           {"predict", "--run", "last", "--db", db, "--seq", "256"}}) {
    for (const std::string format : {"table", "md", "csv"}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--format", format});
      const ProcessResult result = fatune(arguments);
      expect_ok(result);
      EXPECT_TRUE(format == "csv" || result.out.find("RED") != std::string::npos) << result.out;
      for (const char* const bad : {"\x1b", "\b", "\u202e"}) {
        EXPECT_THAT(result.out + result.err, Not(HasSubstr(bad))) << command.front() << format;
      }
      const bool has_line = result.out.find("\n# h") != std::string::npos;
      EXPECT_TRUE(format == "csv" || !has_line) << "a quoted cell of CSV may have line breaks";
      EXPECT_TRUE(format != "md" || result.out.find("<img") == std::string::npos) << result.out;
    }
  }
}

TEST_F(Import, ATimeThatNoKernelTakesIsRefused) {
  sweep();
  const auto expect_refused = [&](const json& content, const std::string& place) {
    write("foreign.json", content.dump());
    const json file{{"file", path("foreign.json")}};
    std::vector<std::string> named = problem_;
    named.insert(named.end(), {"--gpu", "NVIDIA H200"});
    expect_error(import_files(json::array({file}), named), ExitCode::bad_file,
                 {"foreign.json: " + place, "not the time of a kernel"});
  };
  foreign(exported("t4", "t4.json")[0]);
  const json t4 = json::parse(read("foreign.json"));
  foreign(exported("kernel-tuner-cache", "cache.json")[0]);
  const json cache = json::parse(read("foreign.json"));
  const std::string entry = cache["cache"].begin().key();
  for (const double time_ms : {0.0, 1e-320, 1e300}) {
    json bad = t4;
    bad["results"][1]["measurements"][0]["value"] = time_ms;
    expect_refused(bad, "/results/1/measurements/0/value");
    bad = t4;
    bad["results"][1]["times"]["runtimes"][0] = time_ms;
    expect_refused(bad, "/results/1/times/runtimes/0");
    bad = cache;
    bad["cache"][entry]["time"] = std::min(time_ms, 1e15);  // 1e20 and more mean a failure
    expect_refused(bad, "/cache/");
    bad = cache;
    bad["cache"][entry]["times"] = {0.1, time_ms};
    expect_refused(bad, "/cache/");
  }
  json bad = cache;
  bad["cache"][entry]["compile_time"] = 1e308;
  write("foreign.json", bad.dump());
  expect_error(import_files(json::array({{{"file", path("foreign.json")}}}), problem_),
               ExitCode::bad_file, {"compile_time", "is not a duration"});
  expect_nothing_stored();
}

TEST_F(Import, WhenOneFileIsWrongNothingIsStored) {
  sweep();
  const json files = exported("t4", "t4.json");
  const std::string second = std::filesystem::path(files[1]["file"]).filename();
  json changed = json::parse(read(second));
  changed["results"][0]["measurements"][0]["value"] = 0.001;
  write(second, changed.dump());
  expect_error(import_files(files), ExitCode::bad_file, {second, "differs from the records"});
  write(second, read(second).substr(0, 1000));
  expect_error(import_files(files), ExitCode::bad_file, {second, "not valid JSON"});
  expect_error(import_files(json::array({files[0], files[0]})), ExitCode::bad_file, {"twice"});
  expect_error(import_files(json::array({files[0]}), {"--seq", "256"}), ExitCode::usage,
               {"leave these options"});
  expect_error(import_files(json::array({files[0]}), {"--from", "json"}), ExitCode::usage,
               {"--from", "t4, kernel-tuner-cache"});
  expect_nothing_stored();
}

TEST_F(Import, WhatFatuneShipsIsExportedWithItsTimes) {
  const std::vector<std::string> command{"export",   "--to", "t4", "--out", path("shipped.json"),
                                         "--format", "json"};
  const json files = fatune_json(command)["files"];
  EXPECT_EQ(files.size(), 2301U) << "one for each family of 1844 problems";
  expect_ok(import_files(files));
  const json table =
      fatune_json({"export", "--run", "1", "--run", "2", "--run", "3", "--run", "4", "--run", "5",
                   "--run", "6", "--db", path("imported.db"), "--format", "json"});
  const json shipped = fatune_json({"export", "--format", "json"});
  ASSERT_EQ(shipped["rows"].size(), 1844U);
  ASSERT_EQ(table["rows"].size(), shipped["rows"].size());
  for (std::size_t i = 0; i < shipped["rows"].size(); ++i) {
    for (const char* member : {"problem", "config", "time_us", "tie_group", "verified"}) {
      EXPECT_EQ(table["rows"][i][member], shipped["rows"][i][member]) << i << member;
    }
  }
}

TEST_F(Import, EachExportedFileHasANameOfItsOwn) {
  sweep();
  const json files =
      fatune_json({"export", "--run", "1", "--run", "last", "--db", path("runs.db"), "--to", "t4",
                   "--out", path("out/t4.json"), "--format", "json"})["files"];
  std::set<std::string> names;
  for (const json& file : files) {
    names.insert(file["file"]);
    EXPECT_TRUE(std::filesystem::exists(std::string(file["file"])));
  }
  EXPECT_EQ(names.size(), 4U);
}

TEST_F(Import, ExportingFilesNeedsANameAndNoCover) {
  expect_error(fatune({"export", "--to", "t4"}), ExitCode::usage, {"--to t4", "--out FILE"});
  expect_error(fatune({"export", "--to", "t4", "--out", path("a.json"), "--cover", "5"}),
               ExitCode::usage, {"--cover", "not t4"});
}

}  // namespace
}  // namespace fatune::testing_cli

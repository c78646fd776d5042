#include "store/tuning_file.hpp"

#include <gmock/gmock.h>

#include "store/run_parts.hpp"
#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

using nlohmann::json;

json t4_written() { return json::parse(json_text(t4_json(tuning_results(sample_part())))); }

/// A file with one setting that has these members besides those that T4 requires.
json t4_with(const json& more) {
  json result{{"configuration", {{"a", 1}}},
              {"times", json::object()},
              {"invalidity", "correct"},
              {"correctness", 1}};
  result.update(more);
  return {{"results", {result}}};
}

TunedSetting read_t4_setting(const json& file) {
  return read_t4(JsonNode(file, "file")).settings.at(0);
}

TEST(T4File, HasWhatTheResultsSchemaRequires) {
  const json file = t4_written();
  EXPECT_EQ(file["schema_version"], "1.0.0");
  ASSERT_EQ(file["results"].size(), 12U);  // the audited one is also among the failures
  for (const json& result : file["results"]) {
    EXPECT_TRUE(result["configuration"].is_object());
    EXPECT_TRUE(result["times"]["runtimes"].is_array());
    EXPECT_TRUE(result["correctness"].is_number());
    EXPECT_EQ(result["objectives"], json({"time"}));
  }
  const json& best = file["results"][0];
  EXPECT_EQ(best["configuration"], (json{{"dtype", "FP16"}, {"rows", 1}}));
  EXPECT_EQ(best["measurements"], (json{{{"name", "time"}, {"value", 0.1}, {"unit", "ms"}}}));
  EXPECT_EQ(best["times"]["runtimes"].size(), 3U);
}

TEST(T4File, HasWhatTheMetadataSchemaNames) {
  const json metadata = t4_written()["metadata"];
  EXPECT_EQ(metadata["timeunit"], "milliseconds");
  EXPECT_EQ(metadata["hardware"]["hardware_description"][0]["name"], "Test GPU");
  EXPECT_EQ(metadata["environment"]["requirements"][1], "nvrtc==13.0");
}

TEST(T4File, SaysHowEachSettingEnded) {
  std::vector<std::string> words;
  const json file = t4_written();
  for (const json& result : file["results"]) {
    words.push_back(result["invalidity"]);
    EXPECT_EQ(result["correctness"], words.back() == "correct" ? 1 : 0);
  }
  EXPECT_THAT(words, testing::ElementsAre("correct", "correct", "correct", "compile", "runtime",
                                          "timeout", "correctness", "compile", "runtime",
                                          "correctness", "correctness", "constraints"));
}

TEST(T4File, IsReadAsItWasWritten) {
  const TuningResults results = tuning_results(sample_part());
  const json file = t4_written();
  const TuningResults read = read_t4(JsonNode(file, "file"));
  ASSERT_EQ(read.settings.size(), results.settings.size());
  for (std::size_t i = 0; i < results.settings.size(); ++i) {
    EXPECT_EQ(json(read.settings[i].configuration), json(results.settings[i].configuration));
    EXPECT_EQ(read.settings[i].validity, results.settings[i].validity);
    EXPECT_EQ(read.settings[i].time_ms, results.settings[i].time_ms);
    EXPECT_EQ(read.settings[i].runtimes_ms, results.settings[i].runtimes_ms);
    EXPECT_EQ(read.settings[i].compile_ms, results.settings[i].compile_ms);
    EXPECT_EQ(read.settings[i].timestamp, "2026-01-02T03:04:05Z");
  }
  EXPECT_FALSE(read.records.is_null());
}

TEST(T4File, TimesHaveTheUnitOfTheirMeasurementElseOfTheFile) {
  json file = t4_with({{"times", {{"runtimes", {2.0}}, {"compilation", 3.0}}},
                       {"measurements", {{{"name", "time"}, {"value", 5.0}, {"unit", ""}}}}});
  EXPECT_EQ(read_t4_setting(file).time_ms, 5.0);
  file["metadata"]["timeunit"] = "microseconds";
  EXPECT_DOUBLE_EQ(read_t4_setting(file).time_ms.value(), 0.005);
  EXPECT_DOUBLE_EQ(read_t4_setting(file).runtimes_ms.at(0), 0.002);
  EXPECT_DOUBLE_EQ(read_t4_setting(file).compile_ms, 0.003);
  file["results"][0]["measurements"][0]["unit"] = "s";
  EXPECT_EQ(read_t4_setting(file).time_ms, 5000.0);
  file["results"][0]["measurements"][0]["unit"] = "fortnight";
  expect_bad_file([&] { static_cast<void>(read_t4_setting(file)); },
                  {"file: /results/0/measurements/0/unit", "'fortnight'", "write milliseconds"});
}

TEST(T4File, AFailuresTextIsNoTime) {
  const json file = t4_with(
      {{"invalidity", "runtime"},
       {"measurements", {{{"name", "time"}, {"value", "RuntimeFailedConfig"}, {"unit", "ms"}}}}});
  EXPECT_EQ(read_t4_setting(file).time_ms, std::nullopt);
  EXPECT_EQ(read_t4_setting(file).validity, Validity::runtime);
}

}  // namespace
}  // namespace fatune

#include "store/tuning_file.hpp"

#include <gmock/gmock.h>

#include "store/run_parts.hpp"
#include "unit/store/exchange_samples.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using testing::EndsWith;

std::string cache_written() {
  return json_text(kernel_tuner_cache_json(tuning_results(sample_part())));
}

json cache_with(const json& entry) {
  return {{"device_name", "GPU"},
          {"kernel_name", "kernel"},
          {"tune_params_keys", {"b", "a"}},
          {"cache", {{"2,1", entry}}}};
}

TunedSetting read_cache_setting(const json& file) {
  return read_kernel_tuner_cache(JsonNode(file, "file")).settings.at(0);
}

TEST(KernelTunerCache, HasTheMembersThatKernelTunerReads) {
  const json file = json::parse(cache_written());
  EXPECT_EQ(file["device_name"], "Test GPU");
  EXPECT_EQ(file["kernel_name"], "toy");
  EXPECT_EQ(file["problem_size"], json({512, 16, 16}));
  EXPECT_EQ(file["tune_params_keys"], json({"dtype", "rows"}));
  EXPECT_EQ(file["tune_params"]["dtype"], json({"FP16"}));
  EXPECT_EQ(file["tune_params"]["rows"], json({1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  EXPECT_EQ(file["objective"], "time");
  const json& best = file["cache"]["FP16,1"];
  EXPECT_EQ(best["rows"], 1);
  EXPECT_EQ(best["time"], 0.1);
  EXPECT_EQ(best["times"].size(), 3U);
  EXPECT_FALSE(best.contains("__error__"));
}

TEST(KernelTunerCache, EndsSoThatKernelTunerCanAddSettings) {
  EXPECT_THAT(cache_written(),
              EndsWith("}\n}\n"));  // Kernel Tuner strips the text and cuts off three characters
  const std::string open = cache_written().substr(0, cache_written().size() - 4) + ",";
  const json more = json::parse(open + "\n\"FP16,3\": {\"dtype\": \"FP16\", \"rows\": 3}}\n}");
  EXPECT_EQ(more["cache"].size(), 13U);
}

TEST(KernelTunerCache, NamesTheErrorsThatKernelTunerKnows) {
  const json file = json::parse(cache_written());
  for (const auto& [key, error] : {std::pair{"FP16,10", "CompilationFailedConfig"},
                                   {"FP16,11", "RuntimeFailedConfig"},
                                   {"FP16,12", "RuntimeFailedConfig"},
                                   {"FP16,13", "RuntimeFailedConfig"},
                                   {"FP16,19", "InvalidConfig"}}) {
    EXPECT_EQ(file["cache"][key]["__error__"], error) << key;
    EXPECT_EQ(file["cache"][key]["time"], error) << key;
  }
}

TEST(KernelTunerCache, KeysAreAsPythonPrintsValues) {
  TuningResults results;
  TunedSetting setting;
  setting.configuration = {{"flag", true}, {"off", false}, {"n", -3}, {"x", 0.5}, {"name", "a b"}};
  setting.time_ms = 3.0;
  results.settings = {setting};
  const std::string text = json_text(kernel_tuner_cache_json(results));
  EXPECT_TRUE(json::parse(text)["cache"].contains("True,False,-3,0.5,a b"));
  EXPECT_THAT(text, testing::HasSubstr("\"time\": 3.0"))
      << "the best is sought among Python floats";
}

TEST(KernelTunerCache, IsReadAsItWasWritten) {
  const json file = json::parse(cache_written());
  const TuningResults read = read_kernel_tuner_cache(JsonNode(file, "file"));
  EXPECT_EQ(read.kernel_name, "toy");
  EXPECT_EQ(read.device_name, "Test GPU");
  ASSERT_EQ(read.settings.size(), 12U);
  EXPECT_EQ(read.settings[0].configuration.dump(), R"({"dtype":"FP16","rows":1})");
  EXPECT_EQ(read.settings[0].time_ms, 0.1);
  EXPECT_EQ(read.settings[0].runtimes_ms.size(), 3U);
  EXPECT_FALSE(read.records.is_null());
}

TEST(KernelTunerCache, ParametersStandInTheOrderOfTheKeys) {
  const TunedSetting setting = read_cache_setting(cache_with({{"a", 1}, {"b", 2}, {"time", 0.5}}));
  EXPECT_EQ(setting.configuration.dump(), R"({"b":2,"a":1})");
  expect_bad_file(
      [] {
        static_cast<void>(read_cache_setting(cache_with({{"a", 1}, {"time", 0.5}})));
      },
      {"file: /cache/2,1", "'b'"});
}

TEST(KernelTunerCache, AnErrorInAnyMemberIsAFailure) {
  for (const json& failure :
       {json{{"__error__", "CompilationFailedConfig"}}, json{{"time", "CompilationFailedConfig"}},
        json{{"GFLOP/s", "CompilationFailedConfig"}, {"time", 1.0}}}) {
    json entry{{"a", 1}, {"b", 2}};
    entry.update(failure);
    EXPECT_EQ(read_cache_setting(cache_with(entry)).validity, Validity::compile) << failure;
    EXPECT_EQ(read_cache_setting(cache_with(entry)).time_ms, std::nullopt) << failure;
  }
  const json former{{"a", 1}, {"b", 2}, {"time", 1e20}};
  EXPECT_EQ(read_cache_setting(cache_with(former)).validity, Validity::runtime);
}

TEST(ClosedCacheText, ClosesWhatKernelTunerLeavesOpen) {
  const std::string entry = R"({"cache": {"1": {"a": "}{\"", "time": 1.0})";
  const json closed = json::parse(entry + "}}");
  for (const char* rest : {",", "", "}", ",\n", "}\n}", "}}"}) {
    EXPECT_EQ(json::parse(closed_cache_text(entry + rest)), closed) << rest;
  }
}

TEST(ClosedCacheText, LeavesEveryOtherTextAlone) {
  for (const char* text :
       {"", "{}", "[1, 2", "{\"a\": {\"b\": {\"c\": 1", "{\"a\": \"b", "}}", "\\"}) {
    EXPECT_EQ(closed_cache_text(text), text);
  }
}

}  // namespace
}  // namespace fatune

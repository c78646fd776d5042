#include "model/record_json.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes the value as text and reads it back, as for a file or a message.
template <typename Value>
Value round_trip(const Value& value) {
  return read_record<Value>(parse_record(record_text(record_json(value))));
}

template <typename Value>
std::string error_of(const char* text) {
  try {
    static_cast<void>(read_record<Value>(parse_record(text)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    return error.what();
  }
  return "no error";
}

Verification verification() {
  ErrorStats stats;
  stats.input = "normal";
  stats.output = "lse";
  stats.max_abs_error = 1.0 / 3.0;
  stats.max_abs_difference = 0.125;
  stats.max_abs_reference_error = 1e-300;
  stats.limit = 2e-3;
  stats.elements = std::int64_t{1} << 40;
  stats.mismatched = 7;
  stats.not_finite = 3;
  stats.guard_bytes_changed = 2;
  return {"gpu references, all rows", std::numeric_limits<std::uint64_t>::max(), {stats, {}}};
}

TEST(RecordJson, AMeasuredOutcomeComesBackWithEverySample) {
  Measured measured{{}, verification()};
  measured.timing.samples_us = {0.1, 1e7 / 3.0, 5.0};
  measured.timing.median_us = 5.0;
  measured.timing.stopped_because = "fixed count";
  measured.counters = {{"duration_us", 5.1}, {"bank_conflicts", 0.0}};
  const Outcome again = round_trip(Outcome{measured});
  ASSERT_EQ(std::get<Measured>(again).counters.size(), 2U);
  EXPECT_EQ(std::get<Measured>(again).counters[0].name, "duration_us");
  EXPECT_EQ(std::get<Measured>(again).counters[0].value, 5.1);
  const auto& timing = std::get<Measured>(again).timing;
  EXPECT_THAT(timing.samples_us, ElementsAre(0.1, 1e7 / 3.0, 5.0));
  EXPECT_EQ(timing.median_us, 5.0);
  EXPECT_EQ(timing.stopped_because, "fixed count");
  const auto& checks = std::get<Measured>(again).verification;
  EXPECT_EQ(checks.inputs.at(0).output, "lse");
  EXPECT_EQ(checks.seed, std::numeric_limits<std::uint64_t>::max());
  ASSERT_EQ(checks.inputs.size(), 2U);
  EXPECT_EQ(checks.inputs[0].max_abs_error, 1.0 / 3.0);
  EXPECT_EQ(checks.inputs[0].elements, std::int64_t{1} << 40);
  EXPECT_EQ(record_json(again), record_json(Outcome{measured}));
}

TEST(RecordJson, AnOutcomeWithATimeThatNoKernelTakesIsRefused) {
  for (const double us : {0.0, -1.0, 1e-320, 1e300}) {
    Measured measured;
    measured.timing.median_us = us;
    const std::string text = record_text(record_json(Outcome{measured}));
    EXPECT_THAT(error_of<Outcome>(text.c_str()),
                testing::AllOf(HasSubstr("time_us"), HasSubstr("not the time of a kernel")));
  }
}

TEST(RecordJson, EveryAlternativeComesBackAsItself) {
  Measured measured;
  measured.timing.median_us = 5.0;
  const std::vector<Outcome> outcomes{
      Pruned{"rule", "why"},
      Invalid{"rule", "why"},
      CompileFailed{"error: x\nline 2"},
      CompilerCrashed{"signal 11", "the compiler crashed: signal 11\nwords"},
      Serialized{"C7512: why"},
      Unlaunchable{"too much"},
      Crashed{"CUDA_ERROR_ILLEGAL_ADDRESS"},
      TimedOut{1500.0},
      WrongResult{verification(), "finding"},
      Implausible{3.5, 40.25, "arithmetic"},
      Flagged{verification(), "race"},
      Estimated{12.5, {{"tensor", 3.5}}, verification(), "why", EstimateSource::calibration},
      measured};
  ASSERT_EQ(outcomes.size(), std::variant_size_v<Outcome>);
  for (const Outcome& outcome : outcomes) {
    const Outcome again = round_trip(outcome);
    EXPECT_EQ(again.index(), outcome.index());
    EXPECT_EQ(record_json(again), record_json(outcome));
  }
}

TEST(RecordJson, NumbersThatAreNotFiniteComeBack) {
  ErrorStats stats;
  stats.max_abs_error = std::numeric_limits<double>::quiet_NaN();
  stats.max_abs_difference = std::numeric_limits<double>::infinity();
  stats.limit = -std::numeric_limits<double>::infinity();
  const ErrorStats again = round_trip(stats);
  EXPECT_TRUE(std::isnan(again.max_abs_error));
  EXPECT_EQ(again.max_abs_difference, stats.max_abs_difference);
  EXPECT_EQ(again.limit, stats.limit);
}

TEST(RecordJson, PlainValuesComeBack) {
  const Problem problem{2, 4096, 16, 128, DType::bf16, true};
  EXPECT_EQ(round_trip(problem), problem);
  const Config config{"flash", {5, 128, -1}};
  EXPECT_EQ(round_trip(config), config);
  DeviceLimits limits;
  limits.name = "GPU \"x\"";
  limits.arch = {90, 'a'};
  limits.memory_gbps = 4915.2;
  EXPECT_EQ(round_trip(limits).name, limits.name);
  EXPECT_EQ(round_trip(limits).arch, limits.arch);
  EXPECT_EQ(round_trip(limits).memory_gbps, limits.memory_gbps);
}

TEST(RecordJson, ALaunchIsKeptWithItsArguments) {
  LaunchGeometry launch{{1, 2, 3}, {4, 5, 6}, 7};
  launch.cluster = {2, 1, 1};
  launch.attributes = {true, false, 50};
  TensorMapPiece map{64,      "k",    128,    "bfloat16", {64, 9},   {128},
                     {64, 8}, {1, 1}, "128b", "none",     "l2_256b", "nan_request_zero_fma"};
  launch.arguments = {
      false,
      {{"/arguments/0", 192, 64, {{0, 8, ~std::uint64_t{0}}}, {{8, "o", 4}}, {map}}},
      {{"counter", 4, 7, "before_launch", ""},
       {"max", 32, 0, "never", "row_max", "float32", {1, 8}}}};
  EXPECT_EQ(round_trip(launch), launch);
}

TEST(RecordJson, ACompilersBytesThatAreNoUtf8DoNotThrow) {
  EXPECT_THAT(std::get<CompileFailed>(round_trip(Outcome{CompileFailed{"bad \xff byte"}})).log,
              HasSubstr("byte"));
}

TEST(RecordJson, AnObjectHasAtMostTenThousandMembers) {
  std::string text = R"({"batch": 1)";
  for (std::size_t i = 1; i < kMostRecordMembers; ++i) {
    text += ",\"" + std::to_string(i) + "\":0";
  }
  EXPECT_THAT(error_of<Problem>((text + "}").c_str()), HasSubstr("seq_len"));
  EXPECT_THAT(error_of<Problem>((text + ",\"x\":0}").c_str()),
              HasSubstr("more than 10000 members"));
}

TEST(RecordJson, ErrorsNameTheMember) {
  EXPECT_THAT(error_of<Problem>("{"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of<Problem>("[]"), HasSubstr("not an object"));
  EXPECT_THAT(error_of<Outcome>("{}"),
              testing::AllOf(HasSubstr("outcome"), HasSubstr("is missing")));
  EXPECT_THAT(error_of<Outcome>(R"({"outcome": "vanished"})"), HasSubstr("'vanished'"));
  EXPECT_THAT(error_of<Outcome>(R"({"outcome": "wrong_result", "verification":
      {"method": "m", "seed": -1, "inputs": []}, "finding": ""})"),
              HasSubstr("verification.seed"));
  EXPECT_THAT(error_of<Problem>(R"({"batch": 1, "seq_len": 1.5})"), HasSubstr("seq_len"));
  EXPECT_THAT(error_of<LaunchGeometry>(R"({"grid": [1, 2]})"), HasSubstr("2 items"));
}

}  // namespace
}  // namespace fatune

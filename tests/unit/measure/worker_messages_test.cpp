#include "measure/worker_messages.hpp"

#include <gmock/gmock.h>

#include "model/problem.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

TEST(WorkerMessages, ACandidateTravelsWithItsGeometries) {
  auto artifact = std::make_shared<Artifact>();
  artifact->lowered_name = "kernel";
  artifact->cubin = {'c', 'u'};
  CandidateKernel sent{
      "label", artifact, {{1, 2, 3}, {128, 1, 1}, 4096}, {{4, 5, 6}, {256, 2, 1}, 8192}, "flash"};
  sent.geometry.arguments = attention_forward_arguments({1, 2, 3, 64, DType::fp16, false});
  sent.geometry.cluster = {1, 2, 1};
  EXPECT_FALSE(read_candidate(admit_message({41}, sent)).is_repeated);
  EXPECT_FALSE(read_candidate(admit_message({41}, sent)).small_geometry);
  sent.is_repeated = true;
  sent.small_geometry = LaunchGeometry{{7, 8, 9}, {32, 1, 1}, 16};
  sent.part_geometry = LaunchGeometry{{4, 5, 2}, {128, 1, 1}, 4096};
  const Message message = admit_message({42}, sent);
  EXPECT_EQ(read_message<ForCandidate>(message).id, CandidateId{42});
  EXPECT_EQ(message.body.at("id"), 42);
  const CandidateKernel read = read_candidate(message);
  EXPECT_EQ(read.label, "label");
  EXPECT_EQ(read.artifact->lowered_name, "kernel");
  EXPECT_EQ(read.artifact->cubin, artifact->cubin);
  EXPECT_EQ(read.geometry, sent.geometry);
  EXPECT_EQ(read.probe_geometry, sent.probe_geometry);
  EXPECT_EQ(read.family, "flash");
  EXPECT_TRUE(read.is_repeated);
  EXPECT_EQ(read.small_geometry, sent.small_geometry);
  EXPECT_EQ(read.part_geometry, sent.part_geometry);
}

TEST(WorkerMessages, AProblemTravelsWithItsPart) {
  const Problem problem{4, 128, 2, 64, DType::bf16, true};
  EXPECT_FALSE(read_begin_problem(begin_problem_message({problem, {}})).part);
  Problem part = problem;
  part.batch = 1;
  const ProblemStart read = read_begin_problem(begin_problem_message({problem, {}, part}));
  EXPECT_EQ(read.problem, problem);
  EXPECT_EQ(read.part, part);
}

TEST(WorkerMessages, CountsTravelByRunAndMetric) {
  const CountRequest request = read_message<CountRequest>(message_of(
      "count", {}, ForCandidate{{7}}, CountRequest{2, {"gpu__time_duration.sum", "a__b.avg"}}));
  EXPECT_EQ(request.runs, 2);
  EXPECT_THAT(request.metrics, testing::ElementsAre("gpu__time_duration.sum", "a__b.avg"));
  const Counted sent{{{{"gpu__time_duration.sum", 5.5e6}, {"a__b.avg", 0.25}}, {}}, std::nullopt};
  EXPECT_EQ(read_message<Counted>(message_of("counted", {}, sent)).runs, sent.runs);
  Message nonsense = message_of("counted", {}, sent);
  nonsense.body["runs"] = "many";
  EXPECT_THROW(static_cast<void>(read_message<Counted>(nonsense)), ProtocolError);
}

DebugRequest debug_request() {
  DebugRequest request;
  request.label = "label";
  request.problem = {1, 2, 1, 4, DType::bf16, true};
  request.artifact.lowered_name = "kernel";
  request.artifact.cubin = {'c', 'u', 'b'};
  request.geometry = {{1, 2, 3}, {128, 1, 1}, 4096};
  request.dump = DumpExtents{2, 4, 1};
  request.q = std::vector<std::uint16_t>(8, 1);
  request.k = std::vector<std::uint16_t>(8, 2);
  request.v = std::vector<std::uint16_t>(8, 3);
  return request;
}

TEST(DebugMessages, ARequestTravelsWithItsTensors) {
  const DebugRequest sent = debug_request();
  const DebugRequest read = read_debug(debug_message(sent));
  EXPECT_EQ(read.label, "label");
  EXPECT_EQ(read.problem, sent.problem);
  EXPECT_EQ(read.artifact.lowered_name, "kernel");
  EXPECT_EQ(read.artifact.cubin, sent.artifact.cubin);
  EXPECT_EQ(read.geometry.grid, sent.geometry.grid);
  ASSERT_TRUE(read.dump);
  EXPECT_EQ(read.dump->keys, 4);
  EXPECT_EQ(read.q, sent.q);
  EXPECT_EQ(read.v, sent.v);
}

TEST(DebugMessages, ARunTravelsBack) {
  const DebugRequest request = debug_request();
  const auto values = static_cast<std::size_t>(request.dump->values(4));
  EXPECT_EQ(values, 2U * 2 * 4 + 2 * (2 + 4));
  const DebugRun sent{std::vector<std::uint16_t>(8, 5), std::vector<float>(values, 1.5F)};
  const DebugRun read = read_debugged(debugged_message(sent), request);
  EXPECT_EQ(read.output, sent.output);
  EXPECT_EQ(read.dump, sent.dump);
}

TEST(DebugMessages, DataOfAnotherSizeIsNonsense) {
  const DebugRequest request = debug_request();
  Message message = debug_message(request);
  message.blob.pop_back();
  EXPECT_THROW(static_cast<void>(read_debug(message)), ProtocolError);
  message = debug_message(request);
  message.blob.push_back('x');
  EXPECT_THROW(static_cast<void>(read_debug(message)), ProtocolError);
  message = debug_message(request);
  for (const std::int64_t bytes : {std::int64_t{-1}, std::int64_t{1} << 60}) {
    message.body["code_bytes"] = bytes;
    EXPECT_THROW(static_cast<void>(read_debug(message)), ProtocolError);
  }
  const DebugRun run{std::vector<std::uint16_t>(8), {}};
  EXPECT_THROW(static_cast<void>(read_debugged(debugged_message(run), request)), ProtocolError);
}

TEST(DebugMessages, ImpossibleExtentsAreNonsense) {
  Message message = debug_message(debug_request());
  message.body["dump"]["rows"] = std::int64_t{1} << 40;
  EXPECT_THROW(static_cast<void>(read_debug(message)), ProtocolError);
  message.body["dump"] = "all";
  EXPECT_THROW(static_cast<void>(read_debug(message)), ProtocolError);
  DebugRequest two_heads = debug_request();
  two_heads.problem = changed(two_heads.problem, [](Problem& problem) { problem.heads = 2; });
  EXPECT_THROW(static_cast<void>(read_debug(debug_message(two_heads))), ProtocolError);
}

TEST(WorkerMessages, ASampleTravelsWithItsReading) {
  const OneSample read = read_message<OneSample>(message_of(
      "sampled", {}, OneSample{12.5, GpuReading{1755, 612.5, 71, 0x80000024U}, true, false}));
  EXPECT_EQ(read.sample_us, 12.5);
  EXPECT_TRUE(read.gate_in_use);
  EXPECT_FALSE(read.deterministic);
  ASSERT_TRUE(read.reading);
  EXPECT_EQ(read.reading->sm_mhz, 1755.0);
  EXPECT_EQ(read.reading->power_w, 612.5);
  EXPECT_EQ(read.reading->temperature_c, 71.0);
  EXPECT_EQ(read.reading->clock_limits, 0x80000024U);
  EXPECT_FALSE(
      read_message<OneSample>(message_of("sampled", {}, OneSample{12.5, std::nullopt, false}))
          .reading);
  EXPECT_FALSE(read.verification);
  const Verification whole{"on the whole", 7, {}};
  EXPECT_EQ(read_message<OneSample>(
                message_of("sampled", {}, OneSample{12.5, std::nullopt, true, true, whole}))
                .verification->method,
            "on the whole");
}

TEST(WorkerMessages, ARequestForSamplesSaysTheRound) {
  const SampleRequest read = read_message<SampleRequest>(
      message_of("sample", {}, ForCandidate{{3}}, SampleRequest{5, 17}));
  EXPECT_EQ(read.count, 5);
  EXPECT_EQ(read.round, 17);
  EXPECT_EQ(read.extent, Extent::whole);
  EXPECT_EQ(read_message<SampleRequest>(
                message_of("sample", {}, ForCandidate{{3}}, SampleRequest{5, 17, Extent::part}))
                .extent,
            Extent::part);
}

TEST(WorkerMessages, AReadingThatIsNoneIsNonsense) {
  Message message = message_of("sampled", {}, OneSample{12.5, GpuReading{}, true});
  message.body["reading"]["power_w"] = "much";
  try {
    static_cast<void>(read_message<OneSample>(message));
    FAIL();
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("power_w"));
  }
  message.body.erase("sample_us");
  EXPECT_THROW(static_cast<void>(read_message<OneSample>(message)), ProtocolError);
}

TEST(WorkerMessages, AnAdmissionTravelsWithItsFirstSample) {
  const Admission read = read_message<Admission>(
      message_of("admitted", {},
                 Admission{{"method", 7, {}}, 31.5, std::nullopt, GpuReading{1700, 650, 60, 4}}));
  EXPECT_EQ(read.first_us, 31.5);
  EXPECT_EQ(read.verification.method, "method");
  EXPECT_FALSE(read.failure);
  EXPECT_EQ(read.reading, (GpuReading{1700, 650, 60, 4}));
}

}  // namespace
}  // namespace fatune

#include "measure/worker_messages.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::HasSubstr;

TEST(WorkerMessages, ACandidateTravelsWithBothItsGeometries) {
  auto artifact = std::make_shared<Artifact>();
  artifact->lowered_name = "kernel";
  artifact->cubin = {'c', 'u'};
  const Candidate sent{
      "label", artifact, {{1, 2, 3}, {128, 1, 1}, 4096}, {{4, 5, 6}, {256, 2, 1}, 8192}};
  const Message message = admit_message(42, sent);
  EXPECT_EQ(read_id(message), 42);
  const Candidate read = read_candidate(message);
  EXPECT_EQ(read.label, "label");
  EXPECT_EQ(read.artifact->lowered_name, "kernel");
  EXPECT_EQ(read.artifact->cubin, artifact->cubin);
  EXPECT_EQ(read.geometry.grid, sent.geometry.grid);
  EXPECT_EQ(read.geometry.dynamic_smem_bytes, 4096);
  EXPECT_EQ(read.probe_geometry.grid, sent.probe_geometry.grid);
  EXPECT_EQ(read.probe_geometry.block, sent.probe_geometry.block);
  EXPECT_EQ(read.probe_geometry.dynamic_smem_bytes, 8192);
}

TEST(WorkerMessages, ASampleTravelsWithItsReading) {
  const OneSample read =
      read_sampled(sampled_message({12.5, GpuReading{1755, 612.5, 71, 0x80000024U}, true}));
  EXPECT_EQ(read.sample_us, 12.5);
  EXPECT_TRUE(read.gate_in_use);
  ASSERT_TRUE(read.reading);
  EXPECT_EQ(read.reading->sm_mhz, 1755.0);
  EXPECT_EQ(read.reading->power_w, 612.5);
  EXPECT_EQ(read.reading->temperature_c, 71.0);
  EXPECT_EQ(read.reading->clock_limits, 0x80000024U);
  EXPECT_FALSE(read_sampled(sampled_message({12.5, std::nullopt, false})).reading);
}

TEST(WorkerMessages, AReadingThatIsNoneIsNonsense) {
  Message message = sampled_message({12.5, GpuReading{}, true});
  message.body["reading"].erase("power_w");
  try {
    static_cast<void>(read_sampled(message));
    FAIL();
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("power_w"));
  }
  message.body.erase("reading");
  EXPECT_THROW(static_cast<void>(read_sampled(message)), ProtocolError);
}

TEST(WorkerMessages, AnAdmissionTravelsWithItsFirstTime) {
  const Admission read = read_admitted(admitted_message({{"method", 7, {}}, 31.5, std::nullopt}));
  EXPECT_EQ(read.first_us, 31.5);
  EXPECT_EQ(read.verification.method, "method");
  EXPECT_FALSE(read.failure);
}

}  // namespace
}  // namespace fatune

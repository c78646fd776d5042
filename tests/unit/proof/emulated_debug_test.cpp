#include "proof/emulated_launch.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

std::string why_not(const Artifact& artifact, std::int64_t seq_len) {
  const HeadInputs inputs;
  const SourceBundle sources;
  const std::string config = "(A): x";
  EmulatedLaunch launch;
  launch.on.problem = {1, seq_len, 1, 64, DType::fp16, false};
  const auto result = emulate_for_debug({config, artifact, sources, launch, std::nullopt, inputs});
  return std::get<NotEmulated>(result).why;
}

TEST(EmulatedDebug, LongSequencesAreNotEmulated) {
  EXPECT_EQ(why_not(Artifact{}, 2049),
            "2049 queries times 2049 keys are more than the 4194304 that are emulated");
}

TEST(EmulatedDebug, PtxThatIsNotCoveredIsNoErrorOfTheCommand) {
  Artifact artifact;
  artifact.ptx = ".version 8.0\n.target sm_80\n.visible .entry k()\n{\nvadd.s32 %r1;\n}\n";
  artifact.lowered_name = "k";
  EXPECT_THAT(why_not(artifact, 64), testing::HasSubstr("vadd"));
}

}  // namespace
}  // namespace fatune

#include "inspect/counters/ncu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inspect/counters/recorded.hpp"

namespace fatune {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string failure_text(const std::string& messages) {
  return ncu_failure(messages, "ncu").what();
}

TEST(NcuMessages, MissingPermissionHasTheRemedy) {
  const Error error = ncu_failure(
      "==PROF== Connected to process 1 (fatune)\n"
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0. For instructions on enabling permissions and "
      "to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
      "==WARNING== No kernels were profiled.\n",
      "ncu");
  EXPECT_EQ(error.code(), ExitCode::gpu_failure);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("no permission"),
                                  HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST(NcuMessages, CausesAreToldApart) {
  EXPECT_EQ(ncu_failure("==ERROR== Profiling is not supported on device 0.", "ncu").code(),
            ExitCode::no_gpu);
  EXPECT_THAT(failure_text("==ERROR== Profiling failed because a driver resource was unavailable."),
              HasSubstr("another program"));
  EXPECT_THAT(failure_text("==ERROR== Failed to find metric regex:^nonsense__metric.sum"),
              HasSubstr("does not know a metric"));
  EXPECT_THAT(failure_text("==ERROR== LibraryNotLoaded"), HasSubstr("profiling library"));
  EXPECT_THAT(failure_text(recorded("messages_no_match.txt")), HasSubstr("no launch to profile"));
}

TEST(NcuMessages, OtherErrorsAreShownAsTheyAre) {
  const std::string text =
      failure_text("==PROF== fine\n==ERROR== the sky falls\n==PROF== still fine\n");
  EXPECT_THAT(text, AllOf(HasSubstr("the sky falls"), Not(HasSubstr("fine"))));
  EXPECT_THAT(failure_text(""), HasSubstr("no message"));
  EXPECT_LT(failure_text(std::string(100000, 'x')).size(), 3000U);
}

TEST(NcuMessages, OnlyErrorsAreErrors) {
  EXPECT_FALSE(has_ncu_errors(recorded("messages_no_match.txt")));
  EXPECT_TRUE(has_ncu_errors("==PROF== a\n==ERROR== b\n"));
}

TEST(NcuMessages, FindsTheVersion) {
  EXPECT_EQ(ncu_version(recorded("version.txt")), "2025.3.1.0");
  EXPECT_EQ(ncu_version("Version 2022"), "2022");
  EXPECT_EQ(ncu_version("what?"), "");
}

TEST(NcuArguments, ProfilesTheMarkedLaunchesAlone) {
  NcuProfile profile;
  profile.report = "a b.ncu-rep";
  profile.log = "l";
  profile.metrics = {"x__y.sum", "z__w.avg"};
  profile.sections = {"S"};
  const std::vector<std::string> arguments = ncu_profile_arguments(profile);
  EXPECT_EQ(arguments[0] + arguments[1], "--profile-from-startoff");
  EXPECT_THAT(arguments, AllOf(Contains("a b.ncu-rep"), Contains("x__y.sum,z__w.avg"),
                               Contains("--section"), Not(Contains("--set"))));
}

}  // namespace
}  // namespace fatune

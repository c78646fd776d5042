#include "gpu/range_counters.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.hpp"
#include "gpu/module.hpp"
#include "gpu/nvrtc.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CuptiCandidates, AreThoseOfWheelsAndToolkits) {
  const auto of = [](const char* nvrtc_folder) { return cupti_candidates(nvrtc_folder); };
  EXPECT_EQ(of("/w/nvidia/cu13/lib").front(), "/w/nvidia/cu13/lib/libcupti.so.13");
  EXPECT_THAT(of("/w/nvidia/cuda_nvrtc/lib"), Contains("/w/nvidia/cuda_cupti/lib/libcupti.so.12"));
  EXPECT_THAT(of("/opt/cuda/lib64"), Contains("/opt/cuda/extras/CUPTI/lib64/libcupti.so"));
  EXPECT_THAT(of("/opt/cuda/targets/x86_64-linux/lib"),
              Contains("/opt/cuda/extras/CUPTI/lib64/libcupti.so"));
  EXPECT_THAT(of(""), Contains("/usr/local/cuda/lib64/libcupti.so"));
}

#ifdef FATUNE_FAKE_CUPTI

std::vector<char> compile() {
  Program program({{"k.cu", "extern \"C\" __global__ void nothing() {}"}, {}});
  EXPECT_TRUE(program.compile({"--gpu-architecture=sm_90a"})) << program.log();
  return program.cubin();
}

class RangeCountersTest : public FakeDriverTest {
 protected:
  void TearDown() override {
    FakeDriverTest::TearDown();
    void* const library = dlopen(FATUNE_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    EXPECT_EQ(reinterpret_cast<long (*)()>(dlsym(library, "fatune_fake_cupti_live"))(), 0);
  }

  // Counts `runs` runs, each with `launches` launches.
  std::vector<std::vector<double>> count(const std::vector<std::string>& metrics, int runs,
                                         int launches = 1) {
    const Context context(0);
    const Stream stream;
    static const std::vector<char> code = compile();
    const Module module(code);
    const Function nothing = module.function("nothing");
    RangeCounters counters(context, metrics);
    return counters.count(runs, {[&] { ++before_; },
                                 [&] {
                                   for (int i = 0; i < launches; ++i) {
                                     launch_with(nothing, {}, stream);
                                   }
                                 }});
  }

  std::string error(const std::vector<std::string>& metrics = {"gpu__time_duration.sum"},
                    int launches = 1) {
    try {
      count(metrics, 1, launches);
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ExitCode::gpu_failure);
      return failure.what();
    }
    return "no error";
  }

  ScopedVariable library_{"FATUNE_CUPTI", FATUNE_FAKE_CUPTI};
  int before_ = 0;
};

TEST_F(RangeCountersTest, RunsTheWorkInEveryPassAndGivesTheValuesOfEachRun) {
  const ScopedVariable passes("FATUNE_FAKE_CUPTI_PASSES", "3");
  EXPECT_THAT(count({"a__b.sum", "c__d.avg"}, 2),
              ElementsAre(ElementsAre(1001.0, 2001.0), ElementsAre(1002.0, 2002.0)));
  EXPECT_EQ(before_, 3);
  EXPECT_EQ(FakeDriver::launches(), 3 * 2);
}

TEST_F(RangeCountersTest, WithoutPermissionItSaysWhoCanGiveIt) {
  const ScopedVariable fail("FATUNE_FAKE_CUPTI_FAIL", "cuptiRangeProfilerEnable=35");
  EXPECT_THAT(
      error(),
      AllOf(HasSubstr("cuptiRangeProfilerEnable"), HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
            HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"), HasSubstr("ERR_NVGPUCTRPERM")));
}

TEST_F(RangeCountersTest, CountersInUseAreToldApart) {
  const ScopedVariable fail("FATUNE_FAKE_CUPTI_FAIL", "cuptiRangeProfilerStart=26");
  EXPECT_THAT(error(), AllOf(HasSubstr("HARDWARE_BUSY"), HasSubstr("another profiler")));
}

TEST_F(RangeCountersTest, ADeviceWithoutCountersIsToldApart) {
  const ScopedVariable confidential("FATUNE_FAKE_CUPTI_CONFIDENTIAL", "1");
  EXPECT_THAT(error(), HasSubstr("confidential computing"));
}

TEST_F(RangeCountersTest, AnUnknownMetricIsNamed) {
  EXPECT_THAT(error({"gpu__time_duration.sum", "sm__no_such.sum"}),
              AllOf(HasSubstr("'sm__no_such.sum'"), HasSubstr("--query-metrics")));
}

TEST_F(RangeCountersTest, WorkOfAnotherNumberOfLaunchesIsAnError) {
  EXPECT_THAT(error({"a__b.sum"}, 0), HasSubstr("counted 0 launches instead of 1"));
}

TEST_F(RangeCountersTest, PassesWithoutEndAreAnError) {
  const ScopedVariable passes("FATUNE_FAKE_CUPTI_PASSES", "0");
  EXPECT_THAT(error(), HasSubstr("more than the 0 passes"));
}

TEST_F(RangeCountersTest, AMissingLibraryIsNamed) {
  const ScopedVariable missing("FATUNE_CUPTI", "/nowhere/libcupti.so");
  EXPECT_THAT(error(), AllOf(HasSubstr("/nowhere/libcupti.so"), HasSubstr("FATUNE_CUPTI")));
}

TEST_F(RangeCountersTest, AnOldLibraryHasNoRangeProfiler) {
  const ScopedVariable old("FATUNE_CUPTI", FATUNE_FAKE_CUPTI_OLD);
  EXPECT_THAT(error(), AllOf(HasSubstr("no range profiler"), HasSubstr("12.6")));
}

#endif

}  // namespace
}  // namespace fatune::gpu

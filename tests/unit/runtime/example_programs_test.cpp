// The example programs that verify and benchmark a library, run on the library of sample_table.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace fatune_attention {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  int code = -1;
  std::string output;  ///< stdout and stderr
};

/// Runs `program` with the driver in the folder `driver` of FATUNE_DRIVERS.
Ran run_example(const std::string& driver, const std::string& program) {
  const std::string command = "LD_LIBRARY_PATH=" FATUNE_DRIVERS "/" + driver +
                              " FATUNE_FAKE_KERNELS=never_run " + program + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  Ran ran;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    ran.output.append(part.data(), count);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

Ran run_verify(const std::string& driver, const std::string& options) {
  return run_example(driver, RUNTIME_VERIFY " " + options);
}

TEST(VerifyExample, FindsOutThatKernelsDidNothingAndAreNotWhatTheyWere) {
  const Ran ran = run_verify("fake", "");
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_THAT(ran.output, StartsWith("0 of 4 kernels have the machine code"));
  EXPECT_THAT(ran.output, HasSubstr("O is wrong at batch 0, head 0, row 0"));
  EXPECT_THAT(ran.output, HasSubstr("298 of 298 problems wrong"));
  EXPECT_THAT(ran.output, HasSubstr("0 right, "));
}

TEST(VerifyExample, NeedsADriver) {
  const Ran ran = run_verify("none", "");
  EXPECT_EQ(ran.code, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("libcuda.so.1 cannot be loaded"));
}

TEST(VerifyExample, NeedsAGpu) {
  const Ran ran = run_verify("fake", "--device 1");
  EXPECT_EQ(ran.code, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("there is no GPU 1"));
}

TEST(VerifyExample, PrintsSelectionsWithoutADriver) {
  const Ran ran = run_verify("none", "--select 200 --seed 5 --gpu 'Fake H200'");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(std::ranges::count(ran.output, '\n'), 200);
  EXPECT_THAT(ran.output, HasSubstr("row=0 kernel=0 step=exact config=(tma)\n"));
  EXPECT_THAT(ran.output, HasSubstr("step=default config=(plain)\n"));
  EXPECT_EQ(run_verify("none", "--select 200 --seed 5 --gpu 'Fake H200'").output, ran.output);
  EXPECT_NE(run_verify("none", "--select 200 --seed 6 --gpu 'Fake H200'").output, ran.output);
  EXPECT_THAT(run_verify("none", "--select 1 --arch 120").output,
              HasSubstr("row=-1 kernel=-1 step=refused config=\n"));
}

TEST(VerifyExample, RefusesUnknownOptions) {
  EXPECT_EQ(run_verify("none", "--select").code, 1);
  EXPECT_THAT(run_verify("none", "--what 3").output, HasSubstr("no option --what"));
}

// Each launch takes 100 us on the fake driver's clock.
TEST(BenchExample, TimesTunedProblems) {
  const Ran ran = run_example("fake", RUNTIME_BENCH);
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("100.0 us        99.0 us  (tma)"));
  EXPECT_EQ(run_example("none", RUNTIME_BENCH).code, 2);
}

}  // namespace
}  // namespace fatune_attention

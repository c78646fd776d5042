#include "base/run_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

ProgramOutput shell(const std::string& script, const RunLimits& limits = {},
                    const Surroundings& surroundings = {}) {
  return run_program("/bin/sh", {"-c", script}, limits, surroundings);
}

std::string failure(const std::string& script, const RunLimits& limits = {}) {
  try {
    (void)shell(script, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    return error.what();
  }
  ADD_FAILURE() << "it succeeded";
  return {};
}

TEST(RunProgram, ArgumentsArriveAsTheyAre) {
  const std::string hostile = "a b; echo 'x' $(y) \"z\" \n";
  EXPECT_EQ(run_program("/bin/echo", {"-n", hostile}).out, hostile);
}

TEST(RunProgram, VariablesReplaceThoseOfTheEnvironment) {
  const Surroundings surroundings{{}, {"HOME=elsewhere", "LC_ALL=C"}};
  EXPECT_EQ(shell("echo $HOME $LC_ALL; env | grep -c ^HOME=", {}, surroundings).out,
            "elsewhere C\n1\n");
  EXPECT_NE(shell("echo $PATH", {}, surroundings).out, "\n");
}

TEST(RunProgram, BothStreamsAreCollected) {
  const ProgramOutput output = shell("echo out; echo err >&2");
  EXPECT_EQ(output.out, "out\n");
  EXPECT_EQ(output.err, "err\n");
}

TEST(RunProgram, NothingIsLostOfALongOutput) {
  const ProgramOutput output = shell("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2");
  EXPECT_EQ(output.out.size(), 3000000U);
  EXPECT_LE(output.err.size(), 2000U);
}

TEST(RunProgram, ItRunsInTheFolderGiven) {
  EXPECT_EQ(run_program("/bin/sh", {"-c", "pwd"}, {}, {"/usr", {}}).out, "/usr\n");
  EXPECT_THROW((void)run_program("/bin/sh", {"-c", "pwd"}, {}, {"/no/such/folder", {}}), Error);
}

TEST(RunProgram, ThereIsNoInput) { EXPECT_EQ(shell("cat").out, ""); }

TEST(RunProgram, AnotherStatusIsAnErrorWithTheMessages) {
  const std::string message = failure("echo 'bad file' >&2; exit 3");
  EXPECT_THAT(message, HasSubstr("exit status 3"));
  EXPECT_THAT(message, HasSubstr("bad file"));
  EXPECT_THAT(failure("kill -SEGV $$"), HasSubstr("signal 11"));
}

TEST(RunProgram, TooMuchOutputEndsIt) {
  RunLimits limits;
  limits.output_bytes = 100000;
  EXPECT_THAT(failure("cat /dev/zero", limits), HasSubstr("more than 100000 bytes"));
}

TEST(RunProgram, OneThatHangsIsKilledWithWhatItStarted) {
  RunLimits limits;
  limits.timeout = std::chrono::milliseconds(150);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(failure("sleep 30 & wait", limits), HasSubstr("within 150 ms"));
  EXPECT_THAT(failure("exec >&- 2>&-; sleep 30", limits), HasSubstr("within 150 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(RunProgram, NoDescriptorsAreLeftOpenAndNoneInherited) {
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < 20; ++i) {
    (void)shell("true");
  }
  const int after = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(after, before + 1);
  ::close(before);
  ::close(after);
}

TEST(RunProgram, WhatIsNotThereOrNoProgramIsAnError) {
  EXPECT_THROW((void)run_program("/nonexistent/tool", {}), Error);
  EXPECT_THROW((void)run_program("/etc/passwd", {}), Error);
}

}  // namespace
}  // namespace fatune

// Kernels that would take all memory, all time, or all of the terminal when they are emulated.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

/// A copy of the toy family whose kernel does something first.
class HostileKernel : public ProgramTest {
 protected:
  void make_family(const std::string& declarations, const std::string& statements,
                   const json& grid = nullptr) {
    std::filesystem::remove_all(path("toy_attention"));
    static_cast<void>(toy_family_with(statements));
    const std::string kernel = "toy_attention/toy_attention.cu";
    write(kernel, declarations + read(kernel));
    if (!grid.is_null()) {
      json family = json::parse(read("toy_attention/family.json"));
      family["launch"]["grid"] = grid;
      write("toy_attention/family.json", family.dump());
    }
  }
  [[nodiscard]] std::vector<std::string> command(const std::string& name,
                                                 const std::string& seq = "64") const {
    return {name,
            "--kernel-dir",
            path("toy_attention"),
            "--config",
            "(FP16, 64, 64): unroll_1",
            "--seq",
            seq};
  }
  /// The only entry of an emulation.
  json emulated(ExitCode expected) {
    std::vector<std::string> arguments = command("emulate");
    arguments.insert(arguments.end(), {"--format", "json"});
    return fatune_json(arguments, expected)["configs"][0];
  }
};

TEST_F(HostileKernel, LargeVariablesAreNotEmulated) {
  for (const char* const bytes : {"67108864", "4294967296"}) {
    make_family(std::string("__device__ unsigned char large[") + bytes + "ull];\n",
                "for (long long i = threadIdx.x; i < sizeof large; i += 256) { ++large[i]; }\n");
    const json config = emulated(ExitCode::nothing_ranked);
    EXPECT_EQ(config["outcome"], "not_covered");
    EXPECT_THAT(config["detail"].get<std::string>(), HasSubstr("at most 33554432 bytes"));
  }
}

TEST_F(HostileKernel, AGridOfTooManyBlocksIsNotEmulated) {
  for (const json& grid : {json{"2147483647", "1", "1"}, json{"65536", "65535", "2"}}) {
    make_family("", "", grid);
    const json config = emulated(ExitCode::nothing_ranked);
    EXPECT_EQ(config["outcome"], "not_covered");
    EXPECT_THAT(config["detail"].get<std::string>(),
                ContainsRegex("has [0-9]+ blocks.*at most 4194304 are emulated"));
  }
}

TEST_F(HostileKernel, AnEndlessLoopIsADeadlock) {
  make_family("", "for (volatile int i = 0;;) { i = i + 1; }\n");
  const json config = emulated(ExitCode::failed_outcomes);
  EXPECT_EQ(config["outcome"], "flagged");
  EXPECT_THAT(config["detail"].get<std::string>(), HasSubstr("it seems never to end"));
}

TEST_F(HostileKernel, EndlessOutputEndsTheEmulation) {
  make_family("", R"(for (;;) { printf("%s\x1b[31m", "0123456789"); })");
  const json config = emulated(ExitCode::nothing_ranked);
  EXPECT_EQ(config["outcome"], "not_covered");
  EXPECT_THAT(config["detail"].get<std::string>(),
              HasSubstr("more than 1048576 bytes of printf's output"));
}

TEST_F(HostileKernel, WhatItPrintsAndAssertsActsOnNoTerminal) {
  make_family("", R"(printf("\x1b[31mred\b\xe2\x80\xae<img src=x>\n");)");
  const ProcessResult printing = fatune(command("emulate"));
  expect_ok(printing);
  EXPECT_THAT(printing.err, AllOf(HasSubstr("red"), Not(HasSubstr("\x1b")), Not(HasSubstr("\b")),
                                  Not(HasSubstr("\u202e"))));
  make_family("", R"(__assertfail("\x1b[31m\n# h<img src=x>|x|", "f", 1, "g", 1);)");
  for (const char* const format : {"table", "md"}) {
    std::vector<std::string> arguments = command("emulate");
    arguments.insert(arguments.end(), {"--format", format});
    const ProcessResult asserting = fatune(arguments);
    EXPECT_THAT(asserting.out,
                AllOf(HasSubstr("assertion"), Not(HasSubstr("\x1b")), Not(HasSubstr("\n# h"))));
    EXPECT_TRUE(format != std::string("md") || asserting.out.find("<img") == std::string::npos);
  }
}

/// The kernel takes many seconds, but each of its blocks ends before it would count as hung.
class EndlessEmulation : public HostileKernel,
                         public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(EndlessEmulation, HearsAnInterruptAtOnce) {
  make_family("", "for (volatile int i = 0; i < 30000;) { i = i + 1; }\n");
  std::vector<std::string> arguments{FATUNE_PROGRAM};
  for (const std::string& word : command(GetParam().front(), "1024")) {
    arguments.push_back(word);
  }
  arguments.insert(arguments.end(), GetParam().begin() + 1, GetParam().end());
  ProcessOptions options = process_;
  options.terminal_columns = 100;
  options.when_err_has = "no step for 0:0";  // nothing has ended for some seconds
  Clock::time_point signalled;
  options.then = [&](pid_t pid) {
    signalled = Clock::now();
    ::kill(pid, SIGINT);
  };
  const ProcessResult result = run_process(arguments, options);
  EXPECT_LT(Clock::now() - signalled, std::chrono::seconds(1));
  EXPECT_EQ(result.exit_code, code_of(ExitCode::interrupted)) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, EndlessEmulation,
    testing::Values(std::vector<std::string>{"emulate"}, std::vector<std::string>{"check"},
                    std::vector<std::string>{"debug", "--device", "none"},
                    std::vector<std::string>{"run", "--device", "none", "--no-db"}),
    [](const auto& command) { return command.param.front(); });

}  // namespace
}  // namespace fatune::testing_cli

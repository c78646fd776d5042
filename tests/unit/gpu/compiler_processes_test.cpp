#include "gpu/compiler_processes.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "base/error.hpp"

// Other programs stand in for the compiler. Tests of the program itself compile in processes.
namespace fatune {
namespace {

using testing::HasSubstr;

CompileJob small_job() {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"k.cu", "extern \"C\" __global__ void k() {}"};
  return {sources, {}, "k", false, CompileOutput::cubin, std::string(64, 'a')};
}

/// More than a connection holds that nobody reads.
CompileJob large_job() {
  CompileJob job = small_job();
  auto sources = std::make_shared<SourceBundle>(*job.sources);
  sources->main.text += std::string(std::size_t{8} << 20, '\n');
  job.sources = sources;
  return job;
}

/// The command of a shell in place of a compiler.
WorkerCommand shell(const std::string& script) { return {"sh", {"/bin/sh", "-c", script}, ""}; }

CompilerCrashed crash_of(CompilerProcesses& processes, const CompileJob& job = small_job()) {
  return std::get<CompilerCrashed>(processes.compile(job));
}

std::string log_of(const CompileResult& result) { return std::get<CompileFailed>(result).log; }

TEST(CompilerProcesses, OneThatEndsCostsItsJobAlone) {
  CompilerProcesses processes({"/bin/false", {}, ""});
  EXPECT_EQ(crash_of(processes).reason, "exit status 1");
  EXPECT_EQ(crash_of(processes).log, "the compiler crashed: exit status 1");
}

TEST(CompilerProcesses, WhatACrashedOnePrintedIsKept) {
  CompilerProcesses processes(shell("echo the pass that failed; kill -SEGV $$"));
  const CompilerCrashed crash = crash_of(processes);
  EXPECT_EQ(crash.reason, "signal 11 (Segmentation fault)");
  EXPECT_THAT(crash.log, HasSubstr("the pass that failed"));
}

TEST(CompilerProcesses, TheLimitThatOneMeetsIsNamed) {
  CompilerProcesses memory(shell("echo LLVM ERROR: out of memory; kill -ABRT $$"));
  EXPECT_THAT(crash_of(memory).reason, HasSubstr("(Aborted): it needs more memory than"));
  CompilerProcesses stack(shell("printf \"" + std::string(kStackIsFull) + "\"; kill -SEGV $$"));
  EXPECT_EQ(crash_of(stack).reason,
            "signal 11 (Segmentation fault): it needs more than 128 MiB of stack");
}

TEST(CompilerProcesses, OneThatSaysSomethingElseHasCrashed) {
  CompilerProcesses processes(shell("echo This is no frame at all. >&3; sleep 1"));
  EXPECT_THAT(crash_of(processes).reason, HasSubstr("not a message"));
}

TEST(CompilerProcesses, OneThatHangsIsEnded) {
  CompilerProcesses processes({"/bin/sleep", {}, "5"}, std::chrono::milliseconds(50));
  EXPECT_THAT(crash_of(processes).reason, HasSubstr("did not end within"));
}

// Each of these once waited for the compiler's end.
TEST(CompilerProcesses, OneThatReadsNothingIsEnded) {
  CompilerProcesses processes({"/bin/sleep", {}, "5"}, std::chrono::milliseconds(50));
  EXPECT_THAT(crash_of(processes, large_job()).reason, HasSubstr("did not end within"));
}

TEST(CompilerProcesses, OneThatPrintsWithoutEndIsEnded) {
  CompilerProcesses processes(shell("exec timeout 5 yes"), std::chrono::milliseconds(50));
  EXPECT_THAT(crash_of(processes).reason, HasSubstr("did not end within"));
}

TEST(CompilerProcesses, OneThatReadsNothingIsEndedWhenTheUserInterrupts) {
  CompilerProcesses processes({"/bin/sleep", {}, "5"});
  std::jthread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    processes.stop();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(log_of(processes.compile(large_job())), "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(CompilerProcesses, NoneStartsAfterTheUserInterrupted) {
  CompilerProcesses processes({"/bin/sleep", {}, "5"});
  processes.stop();
  EXPECT_EQ(log_of(processes.compile(small_job())), "interrupted");
}

TEST(CompilerProcesses, OneIsEndedWhenTheUserInterrupts) {
  CompilerProcesses processes({"/bin/sleep", {}, "100"});
  std::jthread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    processes.stop();
  });
  EXPECT_EQ(log_of(processes.compile(small_job())), "interrupted");
}

TEST(CompilerProcesses, ThatCannotBeStartedAreAnError) {
  CompilerProcesses processes({"/no/such/program"});
  EXPECT_THROW(static_cast<void>(processes.compile(small_job())), Error);
}

}  // namespace
}  // namespace fatune

#include "compile/compiler_processes.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "core/error.hpp"

// Other programs stand in for the compiler. Tests of the program itself compile in processes.
namespace fatune {
namespace {

using testing::HasSubstr;

CompileJob small_job() {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"k.cu", "extern \"C\" __global__ void k() {}"};
  return {sources, {}, "k", false, CompileOutput::cubin, std::string(64, 'a')};
}

std::string log_of(const CompileResult& result) { return std::get<CompileFailed>(result).log; }

TEST(CompilerProcesses, OneThatEndsCostsItsJobAlone) {
  CompilerProcesses processes({"/bin/false", {}, ""});
  EXPECT_EQ(log_of(processes.compile(small_job())), "the compiler crashed: exit status 1");
  EXPECT_EQ(log_of(processes.compile(small_job())), "the compiler crashed: exit status 1");
}

TEST(CompilerProcesses, WhatACrashedOnePrintedIsKept) {
  CompilerProcesses processes({"/bin/ls", {}, "/no such folder"});
  EXPECT_THAT(log_of(processes.compile(small_job())), HasSubstr("/no such folder"));
}

TEST(CompilerProcesses, OneThatHangsIsEnded) {
  CompilerProcesses processes({"/bin/sleep", {}, "100"}, std::chrono::milliseconds(50));
  EXPECT_THAT(log_of(processes.compile(small_job())), HasSubstr("did not end within"));
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

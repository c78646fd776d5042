#include "engine/problem_work.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace fatune {
namespace {

using std::chrono::milliseconds;
using testing::UnorderedElementsAre;

constexpr milliseconds kLong{60'000};
constexpr milliseconds kNoWait{0};

CompileRequest request(const std::string& name) {
  CompileRequest request;
  request.label = name;
  request.sources = std::make_shared<SourceBundle>();
  request.entry_point = name;
  request.arch = {90, '\0'};
  return request;
}

CompileResult compile_at_once(const CompileRequest& request) {
  Artifact artifact;
  artifact.key = request.label;
  return artifact;
}

std::string key_of(const std::optional<CompiledCandidate>& ready) {
  return ready ? std::get<Artifact>(*ready->result).key : "nothing";
}

TEST(CompileFeed, SortsWhatIsReadyByProblem) {
  CompileFeed feed({0, 1}, compile_at_once, 1);
  feed.add({1, {0}}, request("a"));
  feed.add({0, {0}}, request("b"));
  feed.add({1, {1}}, request("c"));
  const auto only = feed.take(0, kLong);
  EXPECT_EQ(key_of(only), "b");
  EXPECT_EQ(only->id, CandidateId{0});
  const auto first = feed.take(1, kLong);
  const auto second = feed.take(1, kLong);
  EXPECT_THAT((std::vector{key_of(first), key_of(second)}), UnorderedElementsAre("a", "c"));
  EXPECT_FALSE(feed.take(1, kNoWait));
}

TEST(CompileFeed, ProblemsWithTheSameRequestEachGetTheResultOfOneCompilation) {
  std::atomic<int> compilations = 0;
  const auto compile_one = [&](const CompileRequest& request) {
    ++compilations;
    return compile_at_once(request);
  };
  CompileFeed feed({0, 1}, compile_one, 2);
  feed.add({0, {0}}, request("a"));
  feed.add({1, {0}}, request("a"));
  const auto first = feed.take(0, kLong);
  const auto second = feed.take(1, kLong);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->result, second->result);
  EXPECT_EQ(compilations, 1);
}

TEST(CompileFeed, AProblemThatIsNotAskedForHoldsUpNoOther) {
  CompileFeed feed({0, 1}, compile_at_once, 1);
  for (std::size_t i = 0; i < 50; ++i) {
    feed.add({0, {i}}, request("early " + std::to_string(i)));
  }
  feed.add({1, {0}}, request("late"));
  EXPECT_EQ(key_of(feed.take(1, kLong)), "late");
}

TEST(CompileFeed, WhatIsAskedForLaterIsCompiledInTheProblemsOrder) {
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future();
  std::vector<std::string> compiled;
  CompileFeed feed(
      {1, 0},
      [&, gate](const CompileRequest& request) {
        gate.wait();
        compiled.push_back(request.label);
        return compile_at_once(request);
      },
      1);
  feed.add({1, {0}}, request("begun"));
  EXPECT_FALSE(feed.take(1, milliseconds(1)));
  feed.add({0, {0}}, request("second"));
  feed.add({0, {1}}, request("shared"));
  feed.add({1, {1}}, request("first"));
  feed.add({1, {2}}, request("shared"));
  go_on.set_value();
  EXPECT_TRUE(feed.take(0, kLong) && feed.take(0, kLong));
  EXPECT_THAT(compiled, testing::ElementsAre("begun", "first", "shared", "second"));
}

TEST(CompileFeed, WhatIsCompiledAlreadyIsReadyAtOnce) {
  CompileFeed feed({0, 1}, compile_at_once, 1);
  feed.add({0, {0}}, request("a"));
  const auto first = feed.take(0, kLong);
  feed.add({1, {7}}, request("a"));
  const auto second = feed.take(1, kNoWait);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->id, CandidateId{7});
  EXPECT_EQ(second->result, first->result);
}

TEST(CompileFeed, AnExceptionIsAFailure) {
  CompileFeed feed(
      {0}, [](const CompileRequest&) -> CompileResult { throw std::runtime_error("boom"); }, 1);
  feed.add({0, {0}}, request("a"));
  const auto ready = feed.take(0, kLong);
  ASSERT_TRUE(ready);
  EXPECT_EQ(std::get<CompileFailed>(*ready->result).log, "boom");
}

TEST(CompileFeed, NothingWithinTheTimeIsNothing) {
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future();
  CompileFeed feed(
      {0},
      [gate](const CompileRequest& request) {
        gate.wait();
        return compile_at_once(request);
      },
      1);
  feed.add({0, {0}}, request("a"));
  EXPECT_FALSE(feed.take(0, milliseconds(1)));
  go_on.set_value();
  EXPECT_EQ(key_of(feed.take(0, kLong)), "a");
  EXPECT_GT(feed.compiling_s(), 0.0);
}

TEST(CompileFeed, AfterCancellingNothingFurtherIsCompiled) {
  std::promise<void> go_on;
  std::promise<void> begun;
  std::shared_future<void> gate = go_on.get_future();
  std::atomic<int> compilations = 0;
  CompileFeed feed(
      {0},
      [&, gate](const CompileRequest& request) {
        if (++compilations == 1) {
          begun.set_value();
        }
        gate.wait();
        return compile_at_once(request);
      },
      1);
  feed.add({0, {0}}, request("a"));
  feed.add({0, {1}}, request("b"));
  begun.get_future().wait();
  feed.cancel();
  go_on.set_value();
  EXPECT_FALSE(feed.take(0, milliseconds(20)));
  EXPECT_EQ(compilations, 1);
}

}  // namespace
}  // namespace fatune

#include "engine/compile_feed.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <future>

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
  CompileFeed feed({request("a"), request("b"), request("c")}, {{1, {0}}, {0, {0}}, {1, {1}}}, 2,
                   compile_at_once, 1);
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
  CompileFeed feed({request("a"), request("a")}, {{0, {0}}, {1, {0}}}, 2, compile_one, 2);
  const auto first = feed.take(0, kLong);
  const auto second = feed.take(1, kLong);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->result, second->result);
  EXPECT_EQ(compilations, 1);
}

TEST(CompileFeed, AProblemThatIsNotAskedForHoldsUpNoOther) {
  std::vector<CompileRequest> requests;
  std::vector<CandidateKey> owners;
  for (std::size_t i = 0; i < 50; ++i) {
    requests.push_back(request("early " + std::to_string(i)));
    owners.push_back({0, {i}});
  }
  requests.push_back(request("late"));
  owners.push_back({1, {0}});
  CompileFeed feed(requests, owners, 2, compile_at_once, 1);
  EXPECT_EQ(key_of(feed.take(1, kLong)), "late");
}

TEST(CompileFeed, NothingWithinTheTimeIsNothing) {
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future();
  CompileFeed feed(
      {request("a")}, {{0, {0}}}, 1,
      [gate](const CompileRequest& request) {
        gate.wait();
        return compile_at_once(request);
      },
      1);
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
      {request("a"), request("b")}, {{0, {0}}, {0, {1}}}, 1,
      [&, gate](const CompileRequest& request) {
        if (++compilations == 1) {
          begun.set_value();
        }
        gate.wait();
        return compile_at_once(request);
      },
      1);
  begun.get_future().wait();
  feed.cancel();
  go_on.set_value();
  EXPECT_FALSE(feed.take(0, milliseconds(20)));
  EXPECT_EQ(compilations, 1);
}

}  // namespace
}  // namespace fatune

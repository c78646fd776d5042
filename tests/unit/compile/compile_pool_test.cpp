#include "compile/compile_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "unit/compile/requests.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

std::vector<CompileRequest> requests(int count) {
  std::vector<CompileRequest> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(small_request(i));
    result.back().label = std::to_string(i);
  }
  return result;
}

/// An artifact that says whose it is.
CompileResult quick(const CompileRequest& request) {
  Artifact artifact;
  artifact.lowered_name = request.label;
  return artifact;
}

std::multiset<std::size_t> drain(CompilePool& pool) {
  std::multiset<std::size_t> indices;
  while (const auto compiled = pool.next()) {
    indices.insert(compiled->index);
  }
  return indices;
}

/// Waits for a condition that another thread makes true; false after ten seconds.
template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return condition();
}

TEST(CompilePool, HandsOverEveryRequestOnceWithItsResult) {
  CompilePool pool(requests(50), quick, {4, 0});
  std::set<std::size_t> seen;
  while (const auto compiled = pool.next()) {
    EXPECT_EQ(std::get<Artifact>(*compiled->result).lowered_name, std::to_string(compiled->index));
    EXPECT_TRUE(seen.insert(compiled->index).second);
  }
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_FALSE(pool.next());
}

TEST(CompilePool, OfNothingEndsAtOnce) {
  CompilePool pool({}, quick, {4, 0});
  EXPECT_FALSE(pool.next());
}

TEST(CompilePool, WithOneJobKeepsTheOrder) {
  CompilePool pool(requests(10), quick, {1, 0});
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(pool.next()->index, i);
  }
}

TEST(CompilePool, TreatsFewerThanOneJobAsOne) {
  CompilePool pool(requests(3), quick, {-2, 0});
  EXPECT_EQ(drain(pool).size(), 3U);
}

TEST(CompilePool, HandsOverInOrderOfCompletion) {
  std::latch second_is_out(1);
  CompilePool pool(requests(2),
                   [&](const CompileRequest& request) {
                     if (request.label == "0") {
                       second_is_out.wait();
                     }
                     return quick(request);
                   },
                   {2, 0});
  EXPECT_EQ(pool.next()->index, 1U);
  second_is_out.count_down();
  EXPECT_EQ(pool.next()->index, 0U);
}

/// The consumer holds the first result while others compile.
TEST(CompilePool, CompilesWhileTheConsumerWorks) {
  std::atomic<int> started{0};
  CompilePool pool(requests(4),
                   [&](const CompileRequest& request) {
                     ++started;
                     return quick(request);
                   },
                   {1, 4});
  ASSERT_TRUE(pool.next());
  EXPECT_TRUE(eventually([&] { return started == 4; }));
}

TEST(CompilePool, RunsAsManyAtATimeAsItHasJobs) {
  std::latch all_three(3);
  CompilePool pool(requests(3),
                   [&](const CompileRequest& request) {
                     all_three.arrive_and_wait();  // never ends unless three run together
                     return quick(request);
                   },
                   {3, 0});
  EXPECT_EQ(drain(pool).size(), 3U);
}

TEST(CompilePool, PausesWhenTheConsumerFallsBehind) {
  std::atomic<int> started{0};
  CompilePool pool(requests(20),
                   [&](const CompileRequest& request) {
                     ++started;
                     return quick(request);
                   },
                   {2, 3});
  EXPECT_TRUE(eventually([&] { return started >= 3; }));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_LE(started, 4);  // 3 waiting, and one that was claimed beside the third
  EXPECT_EQ(drain(pool).size(), 20U);
}

TEST(CompilePool, CompilesIdenticalRequestsOnce) {
  std::vector<CompileRequest> twice = requests(3);
  for (const CompileRequest& request : requests(3)) {
    twice.push_back(request);
    twice.back().label = "another name for the same";
  }
  std::atomic<int> compilations{0};
  CompilePool pool(twice,
                   [&](const CompileRequest& request) {
                     ++compilations;
                     return quick(request);
                   },
                   {2, 1});
  EXPECT_EQ(pool.distinct(), 3U);
  EXPECT_EQ(drain(pool), (std::multiset<std::size_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(compilations, 3);
}

TEST(CompilePool, MakesAFailureOfAnException) {
  CompilePool pool(requests(2),
                   [](const CompileRequest&) -> CompileResult { throw std::runtime_error("boom"); },
                   {1, 0});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(std::get<CompileFailed>(*pool.next()->result).log, "boom");
  }
  EXPECT_FALSE(pool.next());
}

TEST(CompilePool, StartsNothingMoreOnceCancelled) {
  std::atomic<int> started{0};
  CompilePool pool(requests(100),
                   [&](const CompileRequest& request) {
                     ++started;
                     return quick(request);
                   },
                   {2, 5});
  ASSERT_TRUE(pool.next());
  pool.cancel();
  EXPECT_FALSE(pool.next());
  const int at_cancel = started;
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LE(started, at_cancel + 2);  // those that were claimed already
}

TEST(CompilePool, CancelWakesAConsumerThatWaits) {
  std::latch release(1);
  CompilePool pool(requests(1),
                   [&](const CompileRequest& request) {
                     release.wait();
                     return quick(request);
                   },
                   {1, 0});
  std::jthread canceller([&] { pool.cancel(); });
  EXPECT_FALSE(pool.next());
  release.count_down();
}

TEST(CompilePool, CanBeLeftHalfway) {
  std::atomic<int> started{0};
  {
    CompilePool pool(requests(100),
                     [&](const CompileRequest& request) {
                       ++started;
                       return quick(request);
                     },
                     {4, 0});
    ASSERT_TRUE(pool.next());
  }
  EXPECT_LT(started, 100);
}

TEST(CompilePool, CompilesForReal) {
  CompilePool pool(requests(6), [](const CompileRequest& request) { return compile(request); },
                   {2, 0});
  int kernels = 0;
  while (const auto compiled = pool.next()) {
    ASSERT_TRUE(std::holds_alternative<Artifact>(*compiled->result));
    kernels += std::get<Artifact>(*compiled->result).lowered_name == "k" ? 1 : 0;
  }
  EXPECT_EQ(kernels, 6);
}

}  // namespace
}  // namespace fatune

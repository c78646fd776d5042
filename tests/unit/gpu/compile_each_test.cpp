#include "gpu/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "unit/gpu/requests.hpp"

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

/// Returns an artifact that names its request.
CompileResult quick(const CompileRequest& request) {
  Artifact artifact;
  artifact.lowered_name = request.label;
  return artifact;
}

/// Compiles all requests. Returns their indices in the order in which the results were taken.
std::vector<std::size_t> compile_all(const std::vector<CompileRequest>& requests,
                                     const CompileFunction& compile_one, int jobs) {
  std::vector<std::size_t> taken;
  compile_each(requests, compile_one, jobs, [&](std::size_t index, const auto&) {
    taken.push_back(index);
    return true;
  });
  return taken;
}

TEST(CompileEach, HandsOverEveryRequestOnceWithItsResult) {
  std::set<std::size_t> seen;
  compile_each(requests(50), quick, 4, [&](std::size_t index, const auto& result) {
    EXPECT_EQ(std::get<Artifact>(*result).lowered_name, std::to_string(index));
    EXPECT_TRUE(seen.insert(index).second);
    return true;
  });
  EXPECT_EQ(seen.size(), 50U);
}

TEST(CompileEach, OfNothingEndsAtOnce) { EXPECT_TRUE(compile_all({}, quick, 4).empty()); }

TEST(CompileEach, WithOneJobKeepsTheOrder) {
  EXPECT_THAT(compile_all(requests(5), quick, 1), testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(CompileEach, TreatsFewerThanOneJobAsOne) {
  EXPECT_EQ(compile_all(requests(3), quick, -2).size(), 3U);
}

TEST(CompileEach, HandsOverInOrderOfCompletion) {
  std::latch second_is_out(1);
  std::vector<std::size_t> taken;
  compile_each(
      requests(2),
      [&](const CompileRequest& request) {
        if (request.label == "0") {
          second_is_out.wait();
        }
        return quick(request);
      },
      2,
      [&](std::size_t index, const auto&) {
        taken.push_back(index);
        if (index == 1) {
          second_is_out.count_down();
        }
        return true;
      });
  EXPECT_THAT(taken, testing::ElementsAre(1, 0));
}

TEST(CompileEach, RunsAsManyAtATimeAsItHasJobs) {
  std::latch all_three(3);
  const auto together = [&](const CompileRequest& request) {
    all_three.arrive_and_wait();  // never ends unless three run together
    return quick(request);
  };
  EXPECT_EQ(compile_all(requests(3), together, 3).size(), 3U);
}

TEST(CompileEach, PausesWhileAResultIsTaken) {
  std::atomic<int> started{0};
  const auto counted = [&](const CompileRequest& request) {
    ++started;
    return quick(request);
  };
  int taken = 0;
  compile_each(requests(20), counted, 2, [&](std::size_t, const auto&) {
    if (taken++ == 0) {
      std::this_thread::sleep_for(milliseconds(30));
      EXPECT_LE(started, 2);  // this one, and one that waits to be taken
    }
    return true;
  });
  EXPECT_EQ(taken, 20);
}

TEST(CompileEach, CompilesIdenticalRequestsOnce) {
  std::vector<CompileRequest> twice = requests(3);
  for (const CompileRequest& request : requests(3)) {
    twice.push_back(request);
    twice.back().label = "another name for the same";
  }
  std::atomic<int> compilations{0};
  const auto counted = [&](const CompileRequest& request) {
    ++compilations;
    return quick(request);
  };
  EXPECT_THAT(compile_all(twice, counted, 2), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(compilations, 3);
}

TEST(CompileEach, MakesAFailureOfAnException) {
  const auto boom = [](const CompileRequest&) -> CompileResult {
    throw std::runtime_error("boom");
  };
  int failures = 0;
  compile_each(requests(2), boom, 1, [&](std::size_t, const auto& result) {
    failures += std::get<CompileFailed>(*result).log == "boom" ? 1 : 0;
    return true;
  });
  EXPECT_EQ(failures, 2);
}

TEST(CompileEach, StartsNothingMoreOnceThatIsAskedFor) {
  std::atomic<int> started{0};
  const auto counted = [&](const CompileRequest& request) {
    ++started;
    return quick(request);
  };
  int taken = 0;
  compile_each(requests(100), counted, 2, [&](std::size_t, const auto&) { return ++taken < 3; });
  EXPECT_GE(taken, 3);
  EXPECT_LE(taken, 4);  // one more was under way
  EXPECT_LE(started, 5);
}

TEST(CompileEach, ThrowsWhatTakingThrows) {
  std::atomic<int> started{0};
  const auto counted = [&](const CompileRequest& request) {
    ++started;
    return quick(request);
  };
  const auto fail = [](std::size_t, const auto&) -> bool { throw std::runtime_error("full disk"); };
  EXPECT_THROW(compile_each(requests(100), counted, 1, fail), std::runtime_error);
  EXPECT_EQ(started, 1);
}

TEST(CompileEach, CompilesForReal) {
  int kernels = 0;
  compile_each(
      requests(6), [](const CompileRequest& request) { return compile(request); }, 2,
      [&](std::size_t, const auto& result) {
        kernels += std::get<Artifact>(*result).lowered_name == "k" ? 1 : 0;
        return true;
      });
  EXPECT_EQ(kernels, 6);
}

}  // namespace
}  // namespace fatune

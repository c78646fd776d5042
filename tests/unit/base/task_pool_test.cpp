#include "base/task_pool.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace fatune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TaskPool, RunsWhatIsAddedOnSeveralThreads) {
  TaskPool pool(2);
  std::promise<void> first_runs;
  std::promise<void> second_has_run;
  std::atomic<int> done = 0;
  pool.add([&] {
    first_runs.set_value();
    second_has_run.get_future().wait();
    ++done;
  });
  first_runs.get_future().wait();
  pool.add([&] {
    ++done;
    second_has_run.set_value();
  });
  while (done < 2) {
    pool.wait(seconds(10));
  }
  EXPECT_EQ(done, 2);
}

TEST(TaskPool, WaitingEndsWithATaskOrTheTime) {
  TaskPool pool(1);
  pool.wait(milliseconds(1));  // returns although no task ends
  std::atomic<bool> done = false;
  pool.add([&] { done = true; });
  pool.wait(seconds(60));
  EXPECT_TRUE(done);
}

TEST(TaskPool, LowerRanksComeFirstAndWithinARankWhatWasAddedFirst) {
  std::promise<void> go_on;
  std::string order;
  TaskPool pool(1);
  pool.add([&] { go_on.get_future().wait(); });
  for (const auto& [name, rank] :
       {std::pair{'a', 2U}, {'b', 1U}, {'c', 2U}, {'d', 0U}, {'e', 1U}}) {
    pool.add([&order, name = name] { order += name; }, rank);
  }
  go_on.set_value();
  pool.finish();
  EXPECT_EQ(order, "dbeac");
}

TEST(TaskPool, FinishingWaitsForAllThatIsAdded) {
  TaskPool pool(3);
  pool.finish();  // returns although no task was added
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) {
    pool.add([&] { ++done; });
  }
  pool.finish();
  EXPECT_EQ(done, 100);
}

TEST(TaskPool, WhatIsDroppedIsNotRun) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> done = 0;
  {
    TaskPool pool(1);
    pool.add([&] {
      begun.set_value();
      go_on.get_future().wait();
      ++done;
    });
    begun.get_future().wait();
    pool.add([&] { done += 10; });
    pool.drop();
    pool.add([&] { done += 100; });
    go_on.set_value();
    while (done < 101) {
      pool.wait(seconds(10));
    }
  }
  EXPECT_EQ(done, 101);
}

TEST(TaskPool, ItsEndWaitsForWhatRuns) {
  std::promise<void> begun;
  std::atomic<bool> done = false;
  {
    TaskPool pool(1);
    pool.add([&] {
      begun.set_value();
      std::this_thread::yield();
      done = true;
    });
    begun.get_future().wait();
  }
  EXPECT_TRUE(done);
}

TEST(ForEachIndex, CallsForEveryIndexOnce) {
  std::set<std::size_t> seen;
  for_each_index(100, 1, [&](std::size_t i) { EXPECT_TRUE(seen.insert(i).second); });
  EXPECT_EQ(seen.size(), 100U);
  std::atomic<int> calls = 0;
  for_each_index(100, 4, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

// There are many indices, so that a thread fails while the caller is still adding later ones.
TEST(ForEachIndex, CallsForNoFurtherIndexAfterAnException) {
  int calls = 0;
  const auto fail = [&](std::size_t) {
    ++calls;
    throw std::runtime_error("full disk");
  };
  EXPECT_THROW(for_each_index(100'000, 1, fail), std::runtime_error);
  EXPECT_EQ(calls, 1);
}

namespace fs = std::filesystem;

/// A folder that stands for the root of the file system.
class UsableCores : public testing::Test {
 protected:
  UsableCores() { fs::remove_all(root_); }
  ~UsableCores() override {
    fs::remove_all(root_);
    sched_setaffinity(0, sizeof before_, &before_);
  }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  [[nodiscard]] int cores() const { return usable_cores(root_); }

  /// Lets this thread run on the first `count` of its cores only. Returns false if it has fewer.
  [[nodiscard]] bool use_cores(int count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&set) < count; ++core) {
      if (CPU_ISSET(core, &before_)) {
        CPU_SET(core, &set);
      }
    }
    return CPU_COUNT(&set) == count && sched_setaffinity(0, sizeof set, &set) == 0;
  }

 private:
  static cpu_set_t affinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }

  /// CTest runs several tests of this fixture at the same time, each in its own process.
  fs::path root_ = fs::path(testing::TempDir()) / ("usable_cores_" + std::to_string(::getpid()));
  cpu_set_t before_ = affinity();
};

TEST_F(UsableCores, AreThoseOfTheAffinity) {
  ASSERT_TRUE(use_cores(1));
  EXPECT_EQ(cores(), 1);
  if (use_cores(2)) {
    EXPECT_EQ(cores(), 2);
  }
}

TEST_F(UsableCores, AreNoMoreThanTheQuotaOfVersion2) {
  if (!use_cores(2)) {
    GTEST_SKIP() << "there is one core";
  }
  write("proc/self/cgroup", "0::/jobs/mine");
  write("sys/fs/cgroup/jobs/mine/cpu.max", "max 100000");
  EXPECT_EQ(cores(), 2);
  write("sys/fs/cgroup/jobs/mine/cpu.max", "150000 100000");
  EXPECT_EQ(cores(), 2) << "one and a half";
  write("sys/fs/cgroup/jobs/cpu.max", "20000 100000");
  EXPECT_EQ(cores(), 1) << "the group that it is in grants less";
}

TEST_F(UsableCores, AreNoMoreThanTheQuotaOfVersion1) {
  if (!use_cores(2)) {
    GTEST_SKIP() << "there is one core";
  }
  write("proc/self/cgroup", "4:memory:/other\n3:cpuacct,cpu:/box\n0::/");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(cores(), 2);
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "100000");
  EXPECT_EQ(cores(), 1);
}

TEST_F(UsableCores, InAContainerTheQuotaIsThatOfTheTopmostGroup) {
  write("proc/self/cgroup", "0::/a/path/of/the/host");
  write("sys/fs/cgroup/cpu.max", "100000 100000");
  EXPECT_EQ(cores(), 1);
}

TEST_F(UsableCores, AreAtLeastOne) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "1000 100000");
  EXPECT_EQ(cores(), 1);
}

}  // namespace
}  // namespace fatune

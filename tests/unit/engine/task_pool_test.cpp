#include "engine/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

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
  pool.wait(milliseconds(1));  // nothing ends, and it returns
  std::atomic<bool> done = false;
  pool.add([&] { done = true; });
  pool.wait(seconds(60));
  EXPECT_TRUE(done);
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

}  // namespace
}  // namespace fatune

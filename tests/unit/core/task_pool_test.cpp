#include "core/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
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

}  // namespace
}  // namespace fatune

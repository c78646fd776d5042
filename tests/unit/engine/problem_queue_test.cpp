#include "engine/pipeline.hpp"

#include <gmock/gmock.h>

#include <set>
#include <thread>

namespace fatune {
namespace {

using testing::ElementsAre;

std::vector<ProblemPlan> lengths(const std::vector<std::int64_t>& seq_lens) {
  std::vector<ProblemPlan> plans;
  for (const std::int64_t seq_len : seq_lens) {
    plans.emplace_back().problem = {4, seq_len, 16, 128, DType::fp16, false};
    plans.back().configs.resize(40);
  }
  return plans;
}

TEST(WorkOrder, OnOneGpuIsAsPlanned) {
  EXPECT_THAT(work_order(lengths({1024, 512, 2048}), 1), ElementsAre(0, 1, 2));
}

TEST(WorkOrder, OnSeveralBeginsWithTheLongest) {
  EXPECT_THAT(work_order(lengths({1024, 512, 2048, 512}), 2), ElementsAre(2, 0, 1, 3));
}

TEST(WorkOrder, ConfigurationsCountAsMuchAsLengths) {
  auto plans = lengths({2048, 2048, 2048});
  plans[1].audited.resize(400);
  EXPECT_THAT(work_order(plans, 2), ElementsAre(1, 0, 2));
}

TEST(ProblemQueue, GivesProblemsInTheirOrderToWhoeverAsks) {
  ProblemQueue queue({2, 0, 1});
  const auto plans = lengths({512, 512, 512});
  EXPECT_EQ(queue.left(plans), 3.0);
  EXPECT_EQ(queue.take(0), 2U);
  EXPECT_EQ(queue.take(1), 0U);
  EXPECT_EQ(queue.take(0), 1U);
  EXPECT_EQ(queue.take(0), std::nullopt);
  EXPECT_EQ(queue.left(plans), 0.0);
}

TEST(ProblemQueue, WhatIsReservedComesFirstAndGoesToNobodyElse) {
  ProblemQueue queue({0, 1, 2, 3});
  queue.reserve(3, 1);
  queue.reserve(1, 1);
  queue.reserve(3, 0);  // too late: it is reserved
  EXPECT_EQ(queue.take(1), 3U);
  EXPECT_EQ(queue.take(0), 0U);
  EXPECT_EQ(queue.take(0), 2U);
  EXPECT_EQ(queue.take(0), std::nullopt);
  auto plans = lengths({512, 512, 512, 512});
  plans[1].weight = 0.25;
  EXPECT_EQ(queue.left(plans), 0.25);
  EXPECT_EQ(queue.take(1), 1U);
}

TEST(ProblemQueue, ManyThreadsGetEachProblemOnce) {
  std::vector<std::size_t> order(200);
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  ProblemQueue queue(order);
  std::vector<std::vector<std::size_t>> taken(4);
  std::vector<std::thread> threads;
  for (std::size_t seat = 0; seat < taken.size(); ++seat) {
    threads.emplace_back([&, seat] {
      while (const auto problem = queue.take(seat)) {
        taken[seat].push_back(*problem);
      }
    });
  }
  std::multiset<std::size_t> all;
  for (std::size_t seat = 0; seat < taken.size(); ++seat) {
    threads[seat].join();
    all.insert(taken[seat].begin(), taken[seat].end());
  }
  EXPECT_EQ(all, std::multiset<std::size_t>(order.begin(), order.end()));
}

}  // namespace
}  // namespace fatune

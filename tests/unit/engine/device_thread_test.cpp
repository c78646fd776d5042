#include "engine/pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace fatune {
namespace {

/// Remembers its thread, expects to be destroyed on it, and counts living instances in `alive`.
class Resident : public Evaluator {
 public:
  explicit Resident(std::atomic<int>* alive = nullptr) : alive_(alive) { count(1); }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  Resident(Resident&&) = delete;
  Resident& operator=(Resident&&) = delete;
  ~Resident() override {
    EXPECT_EQ(std::this_thread::get_id(), home);
    count(-1);
  }
  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem&, const RaceTerms&, RunLog&) override {}
  [[nodiscard]] std::optional<Outcome> admit(CandidateId, const Result&,
                                             const CandidateKernel&) override {
    return std::nullopt;
  }
  [[nodiscard]] Evaluation finish() override { return {}; }

  const std::thread::id home = std::this_thread::get_id();

 private:
  void count(int change) {
    if (alive_ != nullptr) {
      *alive_ += change;
    }
  }

  std::atomic<int>* alive_;
  DeviceLimits limits_;
};

TEST(DeviceThread, MakesUsesAndDestroysTheEvaluatorOnItsThread) {
  DeviceThread device([] { return std::make_unique<Resident>(); });
  const auto& evaluator = static_cast<const Resident&>(device.wait_ready());
  EXPECT_NE(evaluator.home, std::this_thread::get_id());
  std::thread::id worked_on;
  device.start([&](Evaluator& own) {
    worked_on = std::this_thread::get_id();
    EXPECT_EQ(&own, &evaluator);
  });
  device.finish();
  EXPECT_EQ(worked_on, evaluator.home);
}

TEST(DeviceThread, TheEvaluatorOutlivesItsJob) {
  std::atomic<int> alive = 0;
  {
    DeviceThread device([&] { return std::make_unique<Resident>(&alive); });
    static_cast<void>(device.wait_ready());
    device.start([](Evaluator&) {});
    device.finish();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(DeviceThread, WhatMakingItThrewComesBack) {
  DeviceThread device([]() -> std::unique_ptr<Evaluator> { throw std::runtime_error("no GPU"); });
  EXPECT_THROW(static_cast<void>(device.wait_ready()), std::runtime_error);
}

TEST(DeviceThread, WhatTheJobThrewComesBack) {
  std::atomic<int> alive = 0;
  DeviceThread device([&] { return std::make_unique<Resident>(&alive); });
  static_cast<void>(device.wait_ready());
  device.start([](Evaluator&) { throw std::runtime_error("no more memory"); });
  EXPECT_THROW(device.finish(), std::runtime_error);
  EXPECT_EQ(alive, 1);
}

TEST(DeviceThread, DoesOneJobAfterTheOther) {
  std::atomic<int> done = 0;
  DeviceThread device([] { return std::make_unique<Resident>(); });
  static_cast<void>(device.wait_ready());
  for (int job = 1; job <= 3; ++job) {
    device.start([&](Evaluator&) { ++done; });
    device.finish();
    EXPECT_EQ(done, job);
  }
}

TEST(DeviceThread, WithoutAJobItEnds) {
  std::atomic<int> alive = 0;
  {
    DeviceThread unused([&] { return std::make_unique<Resident>(&alive); });
    DeviceThread ready([&] { return std::make_unique<Resident>(&alive); });
    static_cast<void>(ready.wait_ready());
  }
  EXPECT_EQ(alive, 0);
}

TEST(DeviceThread, ItsEndWaitsForTheJob) {
  std::atomic<bool> done = false;
  {
    DeviceThread device([] { return std::make_unique<Resident>(); });
    static_cast<void>(device.wait_ready());
    device.start([&](Evaluator&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace fatune

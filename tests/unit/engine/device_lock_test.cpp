#include "engine/device_lock.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "core/error.hpp"

namespace fatune {
namespace {

std::string own_uuid() { return "GPU-test/../" + std::to_string(::getpid()); }

TEST(DeviceLock, IsFreeAgainAfterwards) {
  const auto fail = [] { FAIL() << "had to wait"; };
  { const DeviceLock first(own_uuid(), LockWait::yes, fail); }
  const DeviceLock second(own_uuid(), LockWait::yes, fail);
}

TEST(DeviceLock, TheSecondWaitsForTheFirst) {
  std::atomic<bool> waited = false;
  std::atomic<bool> held = false;
  std::thread second;
  {
    const DeviceLock first(own_uuid(), LockWait::yes, [] {});
    second = std::thread([&] {
      const DeviceLock lock(own_uuid(), LockWait::yes, [&] { waited = true; });
      held = true;
    });
    while (!waited) {
      std::this_thread::yield();
    }
    EXPECT_FALSE(held);
  }
  second.join();
  EXPECT_TRUE(held);
}

TEST(DeviceLock, WhoMayNotWaitIsToldThatTheGpuIsBusy) {
  const DeviceLock first(own_uuid(), LockWait::yes, [] {});
  try {
    const DeviceLock second(own_uuid(), LockWait::no, [] { FAIL() << "waits"; });
    FAIL() << "two hold it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::gpu_busy);
    EXPECT_THAT(error.what(), testing::HasSubstr("--no-wait"));
  }
}

TEST(DeviceLock, ARefusalTakesNothing) {
  std::optional<DeviceLock> first;
  first.emplace(own_uuid(), LockWait::yes, [] {});
  EXPECT_THROW(DeviceLock(own_uuid(), LockWait::no, [] {}), Error);
  first.reset();
  EXPECT_NO_THROW(DeviceLock(own_uuid(), LockWait::no, [] {}));
}

TEST(DeviceLock, AnotherGpuIsFree) {
  const DeviceLock first(own_uuid(), LockWait::yes, [] {});
  const DeviceLock other(own_uuid() + "b", LockWait::yes, [] { FAIL() << "had to wait"; });
}

}  // namespace
}  // namespace fatune

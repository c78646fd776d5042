#include "app/device_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace fatune {
namespace {

std::string own_uuid() { return "GPU-test/../" + std::to_string(::getpid()); }

TEST(DeviceLock, IsFreeAgainAfterwards) {
  const auto fail = [] { FAIL() << "had to wait"; };
  { const DeviceLock first(own_uuid(), fail); }
  const DeviceLock second(own_uuid(), fail);
}

TEST(DeviceLock, TheSecondWaitsForTheFirst) {
  std::atomic<bool> waited = false;
  std::atomic<bool> held = false;
  std::thread second;
  {
    const DeviceLock first(own_uuid(), [] {});
    second = std::thread([&] {
      const DeviceLock lock(own_uuid(), [&] { waited = true; });
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

TEST(DeviceLock, AnotherGpuIsFree) {
  const DeviceLock first(own_uuid(), [] {});
  const DeviceLock other(own_uuid() + "b", [] { FAIL() << "had to wait"; });
}

}  // namespace
}  // namespace fatune

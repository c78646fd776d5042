#include "engine/measuring_evaluator.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "base/error.hpp"

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

/// The lock file of the GPU with this UUID.
std::filesystem::path lock_file(const std::string& plain_uuid) {
  return "/tmp/fatune-" + plain_uuid + ".lock";
}

TEST(DeviceLock, ItsFileIsForAllUsers) {
  const std::string uuid = "GPU-mask-" + std::to_string(::getpid());
  const mode_t before = ::umask(077);
  {
    const DeviceLock lock(uuid, LockWait::no, [] {});
  }
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(lock_file(uuid)).permissions(),
            static_cast<std::filesystem::perms>(0666));
  std::filesystem::remove(lock_file(uuid));
}

TEST(DeviceLock, WhatAStrangerHasPutThereIsNotUsed) {
  const std::string uuid = "GPU-trap-" + std::to_string(::getpid());
  const std::filesystem::path target = lock_file(uuid + "-target");
  std::filesystem::create_symlink(target, lock_file(uuid));
  EXPECT_THROW(DeviceLock(uuid, LockWait::no, [] {}), Error);
  EXPECT_FALSE(std::filesystem::exists(target));
  std::filesystem::remove(lock_file(uuid));
  ASSERT_EQ(::mkfifo(lock_file(uuid).c_str(), 0600), 0);
  EXPECT_THROW(DeviceLock(uuid, LockWait::no, [] {}), Error);
  std::filesystem::remove(lock_file(uuid));
}

}  // namespace
}  // namespace fatune

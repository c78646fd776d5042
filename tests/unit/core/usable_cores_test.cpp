#include "core/usable_cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace fatune {
namespace {

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

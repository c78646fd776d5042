#include "base/task_pool.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <sched.h>

#include "base/text_parts.hpp"

namespace fatune {

TaskPool::TaskPool(int threads) {
  for (int i = 0; i < std::max(threads, 1); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

TaskPool::~TaskPool() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  closed_ = true;
  added_.notify_all();
}

void TaskPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) {
      return;
    }
    Task task = std::move(tasks_.extract(tasks_.begin()).mapped());
    ++running_;
    lock.unlock();
    task();
    task = {};  // releases what the task holds before its end is announced
    lock.lock();
    --running_;
    any_ended_ = true;
    ended_.notify_all();
  }
}

void TaskPool::add(Task task, std::size_t rank) {
  const std::lock_guard lock(mutex_);
  tasks_.emplace(rank, std::move(task));
  added_.notify_one();
}

void TaskPool::wait(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, within, [this] { return any_ended_; });
  any_ended_ = false;
}

void TaskPool::finish() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
}

void TaskPool::drop() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  ended_.notify_all();
}

namespace fs = std::filesystem;
namespace {

int cores_of_affinity() {
  constexpr std::size_t kMostCores = 1 << 16;
  // Too small a set is refused.
  for (std::size_t cores = CPU_SETSIZE; cores <= kMostCores; cores *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cores);
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) {
      return count;
    }
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// The cores that `quota` microseconds in each `period` are worth. A quota that is not a number
/// above 0 ("max", "-1") is no limit.
double cores_of_quota(std::string_view quota, std::string_view period) {
  const auto quota_us = whole_number<std::int64_t>(trim(quota)).value_or(0);
  const auto period_us = whole_number<std::int64_t>(trim(period)).value_or(0);
  return quota_us > 0 && period_us > 0
             ? static_cast<double>(quota_us) / static_cast<double>(period_us)
             : HUGE_VAL;
}

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

/// The limit of one group, in cores.
double limit_of(const fs::path& group) {
  const std::string both = first_line(group / "cpu.max");  // version 2: "200000 100000"
  std::string_view period = both;
  const std::string_view quota = take_until(period, ' ');
  return std::min(cores_of_quota(quota, period),
                  cores_of_quota(first_line(group / "cpu.cfs_quota_us"),
                                 first_line(group / "cpu.cfs_period_us")));
}

/// The least limit of a group and those that it is in. `path` begins with '/'.
double least_limit(const fs::path& top, std::string_view path) {
  double least = limit_of(top);
  for (fs::path group(path); group.has_relative_path(); group = group.parent_path()) {
    least = std::min(least, limit_of(top / group.relative_path()));
  }
  return least;
}

/// The limit of the process's groups. A line of proc/self/cgroup is "0::/path" (version 2) or
/// "4:cpu,cpuacct:/path" (version 1). In a container the path may be the host's, where the limit
/// is that of the topmost group that can be seen.
double limit_of_groups(const fs::path& root) {
  const fs::path top = root / "sys/fs/cgroup";
  double least = HUGE_VAL;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::string_view path = line;
    static_cast<void>(take_until(path, ':'));
    std::string_view controllers = take_until(path, ':');
    const fs::path hierarchy = controllers.empty() ? top : top / "cpu";
    bool limits_cpu = controllers.empty();
    while (!controllers.empty()) {
      limits_cpu = take_until(controllers, ',') == "cpu" || limits_cpu;
    }
    least = limits_cpu ? std::min(least, least_limit(hierarchy, path)) : least;
  }
  return least;
}

}  // namespace

int usable_cores(const fs::path& root) {
  const int cores = std::max(1, cores_of_affinity());
  return static_cast<int>(
      std::clamp(std::ceil(limit_of_groups(root)), 1.0, static_cast<double>(cores)));
}

}  // namespace fatune

#include "compile/compile_pool.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace fatune {
namespace {

std::vector<std::vector<std::size_t>> group_by_key(const std::vector<CompileRequest>& requests) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> group_of_key;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const auto [found, is_new] =
        group_of_key.try_emplace(artifact_key(requests[index]), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[found->second].push_back(index);
  }
  return groups;
}

std::shared_ptr<const CompileResult> compile_guarded(
    const CompilePool::CompileFunction& compile_one, const CompileRequest& request) {
  try {
    return std::make_shared<const CompileResult>(compile_one(request));
  } catch (const std::exception& error) {
    return std::make_shared<const CompileResult>(CompileFailed{error.what()});
  }
}

}  // namespace

CompilePool::CompilePool(std::vector<CompileRequest> requests, CompileFunction compile_one,
                         CompilePoolSettings settings)
    : requests_(std::move(requests)),
      compile_one_(std::move(compile_one)),
      max_waiting_(settings.max_waiting != 0
                       ? settings.max_waiting
                       : 2 * static_cast<std::size_t>(std::max(settings.jobs, 1))),
      groups_(group_by_key(requests_)) {
  const std::size_t jobs =
      std::min(static_cast<std::size_t>(std::max(settings.jobs, 1)), groups_.size());
  for (std::size_t i = 0; i < jobs; ++i) {
    workers_.emplace_back([this] { work(); });
  }
}

CompilePool::~CompilePool() {
  cancel();
  workers_.clear();  // joins before the members they use go
}

void CompilePool::work() {
  for (std::size_t group = claim(); group != groups_.size(); group = claim()) {
    hand_over(group, compile_guarded(compile_one_, requests_[groups_[group].front()]));
  }
}

/// Waits for room among the finished, so that at most max_waiting + jobs distinct results exist.
std::size_t CompilePool::claim() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] {
    return cancelled_ || next_group_ == groups_.size() || waiting_.size() < max_waiting_;
  });
  return cancelled_ || next_group_ == groups_.size() ? groups_.size() : next_group_++;
}

void CompilePool::hand_over(std::size_t group, const std::shared_ptr<const CompileResult>& result) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) {
    return;
  }
  for (const std::size_t index : groups_[group]) {
    waiting_.push_back({index, result});
  }
  finished_.notify_all();
}

std::optional<Compiled> CompilePool::next() {
  std::unique_lock lock(mutex_);
  finished_.wait(
      lock, [this] { return cancelled_ || !waiting_.empty() || handed_over_ == requests_.size(); });
  if (cancelled_ || waiting_.empty()) {
    return std::nullopt;
  }
  Compiled compiled = std::move(waiting_.front());
  waiting_.pop_front();
  ++handed_over_;
  room_.notify_all();
  if (handed_over_ == requests_.size()) {
    finished_.notify_all();
  }
  return compiled;
}

void CompilePool::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  waiting_.clear();
  finished_.notify_all();
  room_.notify_all();
}

}  // namespace fatune

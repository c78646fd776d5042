#include "engine/compile_feed.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace fatune {
namespace {

/// Lets other threads go first: those that measure and learn, and those that compile what all
/// candidates need. The processes that this thread starts inherit its priority.
void lower_priority_of_thread() {
  constexpr int kNice = 5;
  thread_local const int lowered = ::setpriority(PRIO_PROCESS, 0, kNice);
  static_cast<void>(lowered);
}

}  // namespace

CompileFeed::CompileFeed(const std::vector<std::size_t>& order, CompileFunction compile_one,
                         int jobs)
    : compile_one_(std::move(compile_one)),
      jobs_(static_cast<std::size_t>(std::max(jobs, 1))),
      rank_(order.size()),
      ready_(order.size()),
      pool_(static_cast<int>(jobs_)) {
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    rank_.at(order[rank]) = rank;
  }
}

CompileFeed::~CompileFeed() { cancel(); }

bool CompileFeed::add(const CandidateKey& owner, CompileRequest request) {
  std::string key = artifact_key(request);
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = by_key_.try_emplace(std::move(key));
  Job& job = found->second;
  if (is_new) {
    job.request = std::move(request);
  }
  job.owners.push_back(owner);
  if (job.result) {
    hand_over(job);
  } else if (!job.begun) {  // again: an earlier owner's problem may come later in the order
    pool_.add([this, &job] { work(job); }, rank_.at(owner.problem));
  }
  return is_new;
}

void CompileFeed::work(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_ || std::exchange(job.begun, true)) {
      return;
    }
  }
  lower_priority_of_thread();
  auto result = compile_guarded(compile_one_, job.request);
  const std::lock_guard lock(mutex_);
  if (cancelled_) {
    return;
  }
  job.result = std::move(result);
  last_arrival_ = Clock::now();
  hand_over(job);
}

/// Precondition: the mutex is locked, and the job has its result.
void CompileFeed::hand_over(Job& job) {
  for (const CandidateKey& owner : std::exchange(job.owners, {})) {
    ready_.at(owner.problem).push_back({owner.candidate, job.result});
  }
  arrived_.notify_all();
}

std::optional<CompiledCandidate> CompileFeed::take(std::size_t problem,
                                                   std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  std::deque<CompiledCandidate>& ready = ready_.at(problem);
  if (!arrived_.wait_for(lock, within, [&] { return !ready.empty(); })) {
    return std::nullopt;
  }
  CompiledCandidate candidate = std::move(ready.front());
  ready.pop_front();
  return candidate;
}

void CompileFeed::cancel() {
  cancelled_ = true;
  pool_.drop();
}

double CompileFeed::compiling_s() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>(last_arrival_ - start_).count();
}

}  // namespace fatune

#include "engine/compile_feed.hpp"

#include <limits>
#include <utility>

namespace fatune {
namespace {

// Finished artifacts wait here, not in the pool: a problem whose turn is later must not delay the
// others' compilations.
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

}  // namespace

CompileFeed::CompileFeed(std::vector<CompileRequest> requests, std::vector<CandidateKey> owners,
                         std::size_t problems, CompilePool::CompileFunction compile_one, int jobs)
    : owners_(std::move(owners)),
      ready_(problems),
      pool_(std::move(requests), std::move(compile_one), {jobs, kNoLimit}),
      sorter_([this] { sort_results(); }) {}

CompileFeed::~CompileFeed() { cancel(); }

void CompileFeed::sort_results() {
  while (true) {
    std::optional<Compiled> compiled = pool_.next();
    if (!compiled) {
      return;
    }
    const std::lock_guard lock(mutex_);
    const CandidateKey owner = owners_.at(compiled->index);
    ready_.at(owner.problem).push_back({owner.candidate, std::move(compiled->result)});
    last_arrival_ = Clock::now();
    arrived_.notify_all();
  }
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

double CompileFeed::compiling_s() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>(last_arrival_ - start_).count();
}

}  // namespace fatune

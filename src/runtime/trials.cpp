#include "trials.hpp"

#include <algorithm>
#include <new>

namespace fatune_attention::detail {
namespace {

/// While it lives, what this thread asks of events does not disturb captures of other threads.
class RelaxedCaptures {
 public:
  RelaxedCaptures() { exchange(); }
  RelaxedCaptures(const RelaxedCaptures&) = delete;
  RelaxedCaptures& operator=(const RelaxedCaptures&) = delete;
  ~RelaxedCaptures() { exchange(); }

 private:
  void exchange() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }

  int mode_ = cuda::kCaptureModeRelaxed;
};

bool record(void*& event, void* stream) {
  const RelaxedCaptures relaxed;
  constexpr unsigned kDefaultFlags = 0;
  return (event != nullptr || driver().cuEventCreate(&event, kDefaultFlags) == cuda::kSuccess) &&
         driver().cuEventRecord(event, stream) == cuda::kSuccess;
}

void destroy(void*& event) {
  if (event != nullptr) {
    driver().cuEventDestroy_v2(event);
    event = nullptr;
  }
}

constexpr double kUsPerMs = 1000.0;
constexpr double kLeastUs = 0.001;  // so that times have logarithms

/// Whether the times of all launches of the round are known, which it sets. Ends the trial if the
/// driver fails. Those of the first round do not count.
bool times_are_known(Trial& trial) {
  for (int i = 0; trial.rounds.counts() && i < trial.selections.count; ++i) {
    double us = 0.0;
    bool failed = false;
    if (!trial.rounds.is_left(i)) {
      continue;
    }
    if (!trial.events.find_us(i, us, failed)) {
      if (failed) {
        end(trial);
      }
      return false;
    }
    trial.rounds.set_time(i, us);
  }
  return true;
}

}  // namespace

bool TrialEvents::begin(int candidate, void* stream) {
  return record(pairs_[static_cast<std::size_t>(candidate)].begin, stream);
}

bool TrialEvents::end(int candidate, void* stream) {
  return record(pairs_[static_cast<std::size_t>(candidate)].end, stream);
}

bool TrialEvents::find_us(int candidate, double& us, bool& failed) {
  const Pair& pair = pairs_[static_cast<std::size_t>(candidate)];
  const RelaxedCaptures relaxed;
  float ms = 0.0F;
  int status = driver().cuEventQuery(pair.end);
  if (status == cuda::kSuccess) {
    status = driver().cuEventElapsedTime(&ms, pair.begin, pair.end);
  }
  failed = status != cuda::kSuccess && status != cuda::kNotReady;
  us = std::max(kLeastUs, kUsPerMs * ms);
  return status == cuda::kSuccess;
}

void TrialEvents::release() {
  for (Pair& pair : pairs_) {
    destroy(pair.begin);
    destroy(pair.end);
  }
}

bool Trial::change_to(const MemoKey& memo_key, const Problem& problem_of_key,
                      const Request& request) {
  if (!selections.change_to(problem_of_key, request, has_ended ? rounds.fastest() : -1)) {
    return false;
  }
  problem = memo_key;
  return true;
}

Selection Trial::leading() const {
  Selection leading = selections.items[static_cast<std::size_t>(rounds.fastest())];
  if (has_ended) {
    leading.tried = selections.count;
  } else {
    leading.workspace_bytes = selections.most_workspace_bytes();
  }
  return leading;
}

Trial* Trials::find(const MemoKey& key) {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Trial& trial) { return trial.key == key; });
  return found == all_.end() ? nullptr : &*found;
}

Trial& Trials::place_for(const MemoKey& key) {
  if (Trial* const same = find(key)) {
    return *same;
  }
  Trial& oldest = all_[static_cast<std::size_t>(next_)];
  next_ = (next_ + 1) % kMost;
  return oldest;
}

Trials* trials() {
  // Never destroyed: at exit, CUDA may be gone before its events.
  static Trials* const all = new (std::nothrow) Trials;
  return all;
}

void begin(Trial& trial, const MemoKey& key, const MemoKey& problem, const Selections& selections) {
  trial.events.release();
  trial.key = key;
  trial.problem = problem;
  trial.selections = selections;
  trial.rounds = TrialRounds(selections.count);
  trial.has_ended = trial.rounds.ended();
}

int next_candidate(Trial& trial) {
  if (!trial.has_ended && trial.rounds.next() < 0 && times_are_known(trial)) {
    trial.rounds.end_round();
    if (trial.rounds.ended()) {
      end(trial);
    }
  }
  return trial.has_ended ? -1 : trial.rounds.next();
}

void end(Trial& trial) {
  trial.has_ended = true;
  trial.events.release();
}

bool is_capturing(void* stream) {
  int status = cuda::kCaptureStatusNone;
  return driver().cuStreamIsCapturing(stream, &status) != cuda::kSuccess ||
         status != cuda::kCaptureStatusNone;
}

}  // namespace fatune_attention::detail

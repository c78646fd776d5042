#include "race/simulate.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

namespace fatune {
namespace {

/// A compilation in progress. The one that ends first compares as the greatest.
struct Compilation {
  double ends_ms = 0.0;
  std::size_t number = 0;  ///< counts the beginnings
  Config config;

  bool operator<(const Compilation& other) const {
    return std::pair(ends_ms, number) > std::pair(other.ends_ms, other.number);
  }
};

/// The compilers and the queue of configurations that wait for them.
class Compilers {
 public:
  Compilers(const RecordedTries& recorded, std::size_t jobs) : recorded_(recorded), jobs_(jobs) {}

  void add(const std::vector<Proposal>& proposals) {
    for (const Proposal& proposal : proposals) {
      waiting_.push_back(proposal.config);
    }
    begin();
  }
  [[nodiscard]] std::size_t open() const { return waiting_.size() + running_.size(); }
  /// Returns the configuration whose compilation ends next. Precondition: open() is not 0.
  [[nodiscard]] Config finish_next() {
    Compilation next = running_.top();
    running_.pop();
    now_ms_ = next.ends_ms;
    begin();
    return std::move(next.config);
  }

 private:
  void begin() {
    constexpr double kUsualMs = 1000.0;  // if it is not known
    for (; !waiting_.empty() && running_.size() < jobs_; waiting_.pop_front()) {
      const double known_ms = recorded_.at(waiting_.front()).compile_ms;
      running_.push({now_ms_ + (known_ms > 0.0 ? known_ms : kUsualMs), begun_++, waiting_.front()});
    }
  }

  const RecordedTries& recorded_;
  std::size_t jobs_;
  double now_ms_ = 0.0;
  std::size_t begun_ = 0;
  std::deque<Config> waiting_;
  std::priority_queue<Compilation> running_;
};

}  // namespace

std::vector<SimulatedTry> simulate(CandidateSource& source, const RecordedTries& recorded,
                                   std::size_t jobs, const SimulationEnd& end) {
  std::vector<SimulatedTry> tries;
  Compilers compilers(recorded, jobs);
  compilers.add(source.propose(first_request(source, jobs)));
  while (compilers.open() > 0 && !(tries.size() >= end.least_tried && tried_until(tries, end.us))) {
    const Config config = compilers.finish_next();
    const Outcome& outcome = recorded.at(config).outcome;
    tries.push_back(
        {config, is_ranked(outcome) ? std::optional(ranked_us(outcome)) : std::nullopt});
    source.observe(config, outcome);
    if (!source.finished() && compilers.open() < jobs) {
      compilers.add(source.propose(jobs - compilers.open()));
    }
  }
  return tries;
}

std::optional<std::size_t> tried_until(const std::vector<SimulatedTry>& tries, double us) {
  const auto found = std::ranges::find_if(
      tries, [us](const SimulatedTry& one) { return one.us && *one.us <= us; });
  return found == tries.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(found - tries.begin()) + 1);
}

}  // namespace fatune

#include "engine/pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "engine/problem_run.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

/// An equal share of the remaining budget for each problem that a seat may still get. It is never
/// 0, which would mean no limit. Empty: there is no budget.
std::optional<double> share_of(double budget_s, Clock::time_point start, std::size_t problems_left,
                               std::size_t seats) {
  if (budget_s <= 0.0) {
    return std::nullopt;
  }
  constexpr double kLeastSeconds = 1e-6;
  const std::chrono::duration<double> spent = Clock::now() - start;
  const std::size_t turns = std::max<std::size_t>(1, (problems_left + seats - 1) / seats);
  return std::max(kLeastSeconds, (budget_s - spent.count()) / static_cast<double>(turns));
}

}  // namespace

Pipeline::Pipeline(PipelineParts parts, const std::vector<ProblemPlan>& plans,
                   const std::vector<std::size_t>& order)
    : parts_(std::move(parts)), order_(order) {
  for (const ProblemPlan& plan : plans) {
    works_.emplace_back(parts_.families, parts_.limits, parts_.rates, plan, parts_.search,
                        parts_.parts);
  }
  feed_ = std::make_unique<CompileFeed>(order, parts_.compile_one, parts_.jobs);
  for (const std::size_t problem : order) {
    const std::size_t most = first_request(works_[problem].source(), feed_->jobs());
    for (const CandidateId id : works_[problem].ask(most)) {
      if (feed_->add({problem, id}, works_[problem].request(id))) {
        parts_.observer.expect_kernel();
      }
    }
  }
}

void Pipeline::reserve_begun(const std::vector<Seat>& seats, ProblemQueue& queue) const {
  for (std::size_t seat = 0; seat < seats.size(); ++seat) {
    for (const std::size_t problem : order_) {
      const ProblemPlan& plan = works_[problem].plan();
      if (seats[seat].log.has_begun(plan.problem, plan.run)) {
        queue.reserve(problem, seat);
      }
    }
  }
}

/// Remembers several configurations, because they may tie on this problem alone.
void Pipeline::remember_winners(const ProblemReport& report) {
  constexpr std::size_t kMost = 3;
  for (std::size_t place = std::min(kMost, report.ranking.size()); place-- > 0;) {
    winners_.insert(winners_.begin(), report.ranking[place].config);
  }
}

bool Pipeline::run(std::vector<Seat>& seats,
                   const std::function<void(std::size_t, ProblemReport)>& on_problem) {
  std::mutex reporting;
  std::atomic<bool> complete = true;
  const Clock::time_point start = Clock::now();
  ProblemQueue queue(order_);
  reserve_begun(seats, queue);
  const auto work_off = [&](std::size_t seat, Evaluator& evaluator) {
    while (complete) {
      const auto budget_s = share_of(parts_.budget_s, start, queue.left(), seats.size());
      const auto index = queue.take(seat);
      if (!index) {
        return;
      }
      {
        const std::lock_guard lock(reporting);
        works_[*index].suggest(winners_);
      }
      ProblemRun run({parts_.limits, *feed_, evaluator, seats[seat].log, parts_.observer,
                      parts_.baseline, budget_s},
                     works_[*index], *index);
      if (!run.run()) {
        complete = false;
      }
      const std::lock_guard lock(reporting);
      ProblemReport report = run.take_report();
      remember_winners(report);
      parts_.observer.end_problem(report);
      on_problem(*index, std::move(report));
    }
  };
  for (std::size_t seat = 0; seat < seats.size(); ++seat) {
    seats[seat].device.start([&, seat](Evaluator& evaluator) { work_off(seat, evaluator); });
  }
  std::exception_ptr error;
  for (Seat& seat : seats) {
    try {
      seat.device.finish();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (!complete) {
    feed_->cancel();
  }
  if (error) {
    std::rethrow_exception(error);
  }
  return complete;
}

}  // namespace fatune

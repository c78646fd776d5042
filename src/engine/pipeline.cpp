#include "engine/pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/problem_run.hpp"
#include "gpu/compiler_processes.hpp"
#include "model/flop.hpp"

namespace fatune {

DeviceThread::~DeviceThread() {
  if (done_.valid()) {
    done_.wait();
  }
  wake_.release();
}

void DeviceThread::run(const Make& make) {
  std::unique_ptr<Evaluator> evaluator;
  try {
    evaluator = make();
  } catch (...) {
    ready_.set_exception(std::current_exception());
    return;
  }
  ready_.set_value(evaluator.get());
  while (true) {
    wake_.acquire();
    auto job = std::move(job_);
    if (!job.valid()) {
      return;
    }
    job(*evaluator);
  }
}

void DeviceThread::start(Job job) {
  job_ = std::packaged_task<void(Evaluator&)>(std::move(job));
  done_ = job_.get_future();
  wake_.release();
}

namespace {

/// An estimate of a problem's cost: the work of its kernels, and a fixed cost for each kernel.
double cost_of(const ProblemPlan& plan) {
  constexpr double kFlopOfOverhead = 1e11;
  const auto configs = static_cast<double>(plan.configs.size() + plan.audited.size());
  return configs * (literature_flop(plan.problem) + kFlopOfOverhead);
}

std::optional<std::size_t> pop(std::deque<std::size_t>& queue) {
  if (queue.empty()) {
    return std::nullopt;
  }
  const std::size_t first = queue.front();
  queue.pop_front();
  return first;
}

using Clock = std::chrono::steady_clock;

/// The share of the remaining budget of a problem that is 1 / `shares_left` of what is left for all
/// seats. It is never 0, which would mean no limit. Empty: there is no budget.
std::optional<double> share_of(double budget_s, Clock::time_point start, double shares_left,
                               std::size_t seats) {
  if (budget_s <= 0.0) {
    return std::nullopt;
  }
  constexpr double kLeastSeconds = 1e-6;
  const std::chrono::duration<double> spent = Clock::now() - start;
  const double turns = std::max(1.0, std::ceil(shares_left / static_cast<double>(seats)));
  return std::max(kLeastSeconds, (budget_s - spent.count()) / turns);
}

}  // namespace

std::vector<std::size_t> work_order(const std::vector<ProblemPlan>& plans, std::size_t gpus) {
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (gpus > 1) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return cost_of(plans[a]) > cost_of(plans[b]); });
  }
  return order;
}

void ProblemQueue::reserve(std::size_t problem, std::size_t seat) {
  const std::lock_guard lock(mutex_);
  if (std::erase(free_, problem) > 0) {
    reserved_[seat].push_back(problem);
  }
}

std::optional<std::size_t> ProblemQueue::take(std::size_t seat) {
  const std::lock_guard lock(mutex_);
  const auto reserved = pop(reserved_[seat]);
  return reserved ? reserved : pop(free_);
}

double ProblemQueue::left(const std::vector<ProblemPlan>& plans) const {
  const std::lock_guard lock(mutex_);
  const auto weight_of = [&](const std::deque<std::size_t>& queue) {
    return std::transform_reduce(queue.begin(), queue.end(), 0.0, std::plus{},
                                 [&](std::size_t problem) { return plans[problem].weight; });
  };
  return std::transform_reduce(reserved_.begin(), reserved_.end(), weight_of(free_), std::plus{},
                               [&](const auto& of_seat) { return weight_of(of_seat.second); });
}

Pipeline::Pipeline(PipelineParts parts, const std::vector<ProblemPlan>& plans,
                   const std::vector<std::size_t>& order)
    : parts_(std::move(parts)),
      plans_(plans),
      order_(order),
      preparations_(plans.size()),
      feed_(order, parts_.compile_one, parts_.jobs),
      preparing_([this](const std::stop_token& stop) { prepare_all(stop); }) {}

std::unique_ptr<ProblemWork> Pipeline::prepare(std::size_t problem) {
  auto work =
      std::make_unique<ProblemWork>(parts_.families, parts_.limits, parts_.rates, plans_[problem],
                                    parts_.search, parts_.parts, parts_.has_code);
  // A problem that waits for its turn gives each compiler two configurations. They are compiled
  // while the search of an earlier problem ends, and its race goes on.
  const bool waits = problem != order_.front();
  const std::size_t most = waits ? 2 * feed_.jobs() : feed_.jobs();
  for (const CandidateId id : work->ask(first_request(work->source(), most))) {
    if (feed_.add({problem, id}, work->request(id))) {
      parts_.observer.expect_kernel();
    }
  }
  return work;
}

void Pipeline::prepare_all(const std::stop_token& stop) {
  for (const std::size_t problem : order_) {
    if (stop.stop_requested()) {
      return;
    }
    try {
      preparations_[problem].promise.set_value(prepare(problem));
    } catch (...) {
      preparations_[problem].promise.set_exception(std::current_exception());
    }
  }
}

void Pipeline::reserve_begun(const std::vector<Seat>& seats, ProblemQueue& queue) const {
  for (std::size_t seat = 0; seat < seats.size(); ++seat) {
    for (const std::size_t problem : order_) {
      if (seats[seat].log.has_begun(plans_[problem].problem, plans_[problem].run)) {
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
      const double left = queue.left(plans_);
      const auto index = queue.take(seat);
      if (!index) {
        return;
      }
      const auto budget_s =
          share_of(parts_.budget_s, start, left / plans_[*index].weight, seats.size());
      ProblemWork& work = *preparations_[*index].work.get();
      {
        const std::lock_guard lock(reporting);
        work.suggest(winners_);
      }
      ProblemRun run({parts_.limits, feed_, evaluator, seats[seat].log, parts_.observer,
                      parts_.baseline, budget_s},
                     work, *index);
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
    feed_.cancel();
    stop_compiling();
  }
  if (error) {
    std::rethrow_exception(error);
  }
  return complete;
}

}  // namespace fatune

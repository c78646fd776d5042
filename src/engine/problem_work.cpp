#include "engine/problem_work.hpp"

#include <sys/resource.h>
#include <algorithm>
#include <cstddef>
#include <variant>

#include "base/ranges.hpp"
#include "measure/memory_plan.hpp"
#include "plan/parameter.hpp"
#include "race/race_policy.hpp"

namespace fatune {
namespace {

/// Lets other threads go first: those that measure and learn, and those that compile what all
/// candidates need. The processes that this thread starts inherit its priority.
void lower_priority_of_thread() {
  constexpr int kNice = 5;
  thread_local const int lowered = ::setpriority(PRIO_PROCESS, 0, kNice);
  static_cast<void>(lowered);
}

/// Whether early rounds on a part are worthwhile. They decide which candidates meet on the whole
/// problem, so they are of no use if all may.
bool is_worth_a_part(const ProblemPlan& plan, const CandidateSearch& search) {
  const std::size_t most = search.most_tried(plan.configs.size()) + plan.audited.size();
  return !plan.repeats && most > static_cast<std::size_t>(RacePolicy{}.most_finalists);
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

SearchSpace make_search_space(const ProblemPlan& plan, CandidateMaker& maker,
                              const HasCode& has_code) {
  SearchSpace space;
  for (const Config& config : plan.configs) {
    space.points.push_back({config, {}, config == plan.kept_in_race, maker.guess_us(config)});
  }
  for (const AuditedConfig& audited : plan.audited) {
    space.points.push_back({audited.config, audited.rule, true, maker.guess_us(audited.config)});
  }
  for (const Config& config : plan.suggested) {
    space.suggested.push_back({config, "tuned neighbour"});
  }
  if (has_code) {
    space.has_code = [&maker, has_code](const Config& config) {
      return has_code(maker.request(config));
    };
  }
  return space;
}

ProblemWork::ProblemWork(const FamilySet& families, const DeviceLimits& limits,
                         const SmRates& rates, const ProblemPlan& plan,
                         const CandidateSearch& search, bool parts, const HasCode& has_code)
    : families_(families),
      plan_(plan),
      part_(parts && is_worth_a_part(plan, search) ? part_of(plan.problem, limits) : std::nullopt),
      part_tail_(part_ ? fatune::part_tail(*part_, plan.problem, limits) : PartTail{}),
      maker_(std::make_unique<CandidateMaker>(families, limits, rates, plan.problem, part_)),
      source_(search.begin(make_search_space(plan, *maker_, has_code))) {}

std::vector<CandidateId> ProblemWork::ask(std::size_t most) { return take(source_->propose(most)); }

void ProblemWork::suggest(const std::vector<Config>& configs) {
  std::vector<Suggestion> suggested;
  for (Config config : configs) {
    const std::vector<Parameter>& parameters = families_.of(config).parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].binds) {
        config.values.at(i) = property_value(plan_.problem, *parameters[i].binds);
      }
    }
    suggested.push_back({std::move(config), "other problem"});
  }
  source_->suggest(suggested);
}

std::vector<CandidateId> ProblemWork::ask_again(const std::set<std::string>& short_forms) {
  std::vector<Config> configs;
  for (const Config& config : plan_.configs) {
    if (short_forms.contains(maker_->short_form_of(config))) {
      configs.push_back(config);
    }
  }
  return take(source_->propose_again(configs));
}

std::vector<CandidateId> ProblemWork::take(const std::vector<Proposal>& proposals) {
  std::vector<CandidateId> asked;
  for (const Proposal& proposal : proposals) {
    auto made = maker_->make(proposal);
    if (auto* candidate = std::get_if<Candidate>(&made)) {
      asked.push_back({candidates_.size()});
      candidates_.push_back(std::move(*candidate));
    } else {
      Result& result = obstacles_.emplace_back(std::get<Result>(std::move(made)));
      source_->observe(proposal.config, result.outcome);
    }
  }
  return asked;
}

std::vector<Result> ProblemWork::pruned() const {
  return mapped(plan_.pruned_here,
                [this](const PrunedConfig& pruned) { return maker_->make_pruned(pruned); });
}

}  // namespace fatune

#include "engine/store_log.hpp"

#include <string_view>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "print/console.hpp"
#include "print/run_report.hpp"
#include "store/open_store.hpp"

namespace fatune {
namespace {

std::string key_of(const ProblemReport& problem) {
  return fmt::format("{} {}", describe(problem.problem), problem.run);
}

std::string code_hash(const Artifact* artifact) {
  return artifact == nullptr
             ? std::string()
             : sha256_hex(std::string_view(artifact->cubin.data(), artifact->cubin.size()));
}

}  // namespace

void OutcomeLines::add(const ProblemReport& header, const Result& result) {
  const std::lock_guard lock(mutex_);
  if (!is_ranked(result.outcome)) {
    print(header, result);
    printed_[key_of(header)].insert(result.short_form);
  }
}

void OutcomeLines::end_problem(const ProblemReport& problem) {
  const std::lock_guard lock(mutex_);
  const std::set<std::string>& printed = printed_[key_of(problem)];
  for (const auto* results : {&problem.ranking, &problem.failures, &problem.audited}) {
    for (const Result& result : *results) {
      if (!printed.contains(result.short_form)) {
        print(problem, result);
      }
    }
  }
  printed_.erase(key_of(problem));
}

void OutcomeLines::print(const ProblemReport& problem, const Result& result) const {
  try {
    print_result(outcome_line(run_, problem, result));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the run's own line says so
  }
}

template <typename Action>
void StoreLog::attempt(bool possible, Action action) {
  if (!possible) {
    return;
  }
  try {
    action();
  } catch (const Error& error) {
    spdlog::error("results are not stored: {}", error.what());  // also with --quiet
    journal_.reset();
    writer_.reset();
    database_.reset();
    reuse_ = false;
    continues_ = false;
  }
}

StoreLog::StoreLog(const StoreOptions& options, const NewRun& run, OutcomeLines* lines)
    : identity_(run.identity), lines_(lines), off_(options.off) {
  attempt(!off_, [&] {
    database_ =
        std::make_unique<Database>(open_store(store_path(options.file), Database::Mode::create));
    writer_ = std::make_unique<RunWriter>(*database_, run);
    reuse_ = options.reuse && run.header.measured;
    continues_ = !options.fresh && run.header.measured && has_unfinished(current_run());
  });
}

bool StoreLog::has_begun(const Problem& problem, int run) {
  bool begun = false;
  attempt(continues_, [&] { begun = fatune::has_begun(current_run(), problem, run); });
  return begun;
}

void StoreLog::begin_problem(const ProblemReport& header) {
  problem_ = header;
  attempt(keeps(), [&] {
    writer_->begin_problem(header);
    journal_.emplace(*database_, writer_->run_problem());
  });
}

std::optional<ProblemReport> StoreLog::recall_problem() {
  std::optional<StoredProblem> found;
  attempt(continues_, [&] {
    found = fatune::recall_problem(current_run(), problem_.problem, problem_.run);
    if (found) {
      writer_->repeat_problem(found->id);
      found = load_problem(*database_, writer_->run_problem());
    }
  });
  if (!found) {
    return std::nullopt;
  }
  if (lines_ != nullptr) {
    lines_->end_problem(found->report);
  }
  return std::move(found->report);
}

std::vector<JournalEvent> StoreLog::take_over_journal() {
  std::vector<JournalEvent> events;
  attempt(continues_, [&] {
    events = recall_journal(current_run(), problem_.problem, problem_.run);
    journal_->add_all(events);
  });
  return events;
}

void StoreLog::drop_journal() {
  attempt(keeps(), [&] { journal_->clear(); });
}

void StoreLog::journal(const JournalEvent& event) {
  attempt(keeps(), [&] { journal_->add(event); });
}

std::optional<Recalled> StoreLog::find(const StoredCandidate& candidate) {
  std::optional<Recalled> found;
  if (continues_) {
    found = recall_unfinished(current_run(), candidate);
  }
  if (!found && reuse_) {
    found = recall_measurement(current_run(), candidate);
  }
  return found;
}

std::optional<Outcome> StoreLog::recall(const Result& result, const LaunchGeometry& launch) {
  std::optional<Recalled> found;
  attempt((reuse_ || continues_) && !result.artifact_key.empty(), [&] {
    found = find({problem_.problem, problem_.run, result.artifact_key, launch});
  });
  if (!found) {
    return std::nullopt;
  }
  source_ = found->id;
  return std::move(found->outcome);
}

void StoreLog::add(const Result& result, const CandidateRecord& record) {
  const OutcomeOrigin origin{code_hash(record.artifact), record.launch, record.evaluated,
                             std::exchange(source_, std::nullopt)};
  attempt(keeps(), [&] { writer_->add(result, origin); });
  if (lines_ != nullptr) {
    lines_->add(problem_, result);
  }
}

void StoreLog::end_problem(const ProblemReport& report, bool finished) {
  attempt(keeps(), [&] { writer_->end_problem(report, finished); });
  if (lines_ != nullptr) {
    lines_->end_problem(report);
  }
}

void StoreLog::end_run(const RunReport& report) {
  attempt(keeps(), [&] { writer_->end_run(report); });
}

}  // namespace fatune

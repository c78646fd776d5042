#include "app/store_log.hpp"

#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

#include "compile/sha256.hpp"
#include "core/error.hpp"
#include "store/open_store.hpp"

namespace fatune {
namespace {

std::filesystem::path path_of(const StoreOptions& options) {
  const auto path = options.file ? options.file : default_store_path();
  if (!path) {
    throw Error(ExitCode::io, "no place for the database is known",
                "neither XDG_DATA_HOME nor HOME is set", "name a file with --db, or say --no-db");
  }
  return *path;
}

std::string code_hash(const Artifact* artifact) {
  return artifact == nullptr
             ? std::string()
             : sha256_hex(std::string_view(artifact->cubin.data(), artifact->cubin.size()));
}

}  // namespace

template <typename Action>
void StoreLog::attempt(Action action) {
  try {
    action();
  } catch (const Error& error) {
    spdlog::warn("results are not stored: {}", error.what());
    writer_.reset();
    database_.reset();
    reuse_ = false;
    continues_ = false;
  }
}

StoreLog::StoreLog(const StoreOptions& options, const NewRun& run) : identity_(run.identity) {
  attempt([&] { open(options, run); });
}

void StoreLog::open(const StoreOptions& options, const NewRun& run) {
  database_ = std::make_unique<Database>(open_store(path_of(options), Database::Mode::create));
  writer_ = std::make_unique<RunWriter>(*database_, run);
  reuse_ = options.reuse;
  continues_ = !options.fresh && has_unfinished(*database_, identity_, writer_->run_id());
}

void StoreLog::begin_problem(const ProblemReport& header) {
  problem_ = header;
  if (keeps()) {
    attempt([&] { writer_->begin_problem(header); });
  }
}

std::optional<Recalled> StoreLog::find(const StoredTrial& trial) {
  std::optional<Recalled> found;
  if (continues_) {
    found = recall_unfinished(*database_, identity_, writer_->run_id(), trial);
  }
  if (!found && reuse_) {
    found = recall_measurement(*database_, identity_.conditions, writer_->run_id(), trial);
  }
  return found;
}

std::optional<Outcome> StoreLog::recall(const Entry& entry, const LaunchGeometry& launch) {
  std::optional<Recalled> found;
  if (keeps() && may_recall() && !entry.artifact_key.empty()) {
    attempt([&] { found = find({problem_.problem, problem_.run, entry.artifact_key, launch}); });
  }
  if (!found) {
    return std::nullopt;
  }
  source_ = found->id;
  return std::move(found->outcome);
}

void StoreLog::add(const Entry& entry, const TrialRecord& trial) {
  const OutcomeOrigin origin{code_hash(trial.artifact), trial.launch, trial.evaluated,
                             std::exchange(source_, std::nullopt)};
  if (keeps()) {
    attempt([&] { writer_->add(entry, origin); });
  }
}

void StoreLog::end_problem(const ProblemReport& report) {
  if (keeps()) {
    attempt([&] { writer_->end_problem(report); });
  }
}

void StoreLog::end_run(const RunReport& report) {
  if (keeps()) {
    attempt([&] { writer_->end_run(report.wall_s, report.complete); });
  }
}

}  // namespace fatune

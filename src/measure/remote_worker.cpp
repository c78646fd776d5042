#include "measure/remote_worker.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "model/flop.hpp"
#include "model/input_kind.hpp"
#include "model/row_sample.hpp"
#include "reference/reference_tile.h"

namespace fatune {
namespace {

constexpr double kSlowestFlopPerUs = 0.5e6;
constexpr const char* kVariable = "FATUNE_WATCHDOG_S";

double positive_seconds(std::string_view text) {
  constexpr double kMaxSeconds = 1e6;
  const double seconds = whole_number<double>(text).value_or(0.0);
  if (!(seconds > 0.0 && seconds <= kMaxSeconds)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a number of seconds", text), kVariable,
                "it is the minimum time, in seconds, after which a kernel counts as hung, e.g. 5");
  }
  return seconds;
}

// The rows of a block of the reference kernel.
std::int64_t rows_of_block(const Problem& problem) {
  return reference_rows(static_cast<int>(problem.d_head), static_cast<int>(problem.d_head_v));
}

// The FLOP of one block of the reference kernel, which computes the scores twice and both outputs,
// always for whole tiles. Masks are not considered: this is the most.
std::int64_t reference_blocks_of_head(const Problem& problem) {
  const std::int64_t rows = rows_of_block(problem);
  return (sampled_rows_per_head(problem) + rows - 1) / rows;
}

// The most keys that a block passes over, on average of a head's blocks. Where sequences are
// packed, its rows may be those of several: it passes over all keys between the first and the last.
std::int64_t keys_of_block(const Problem& problem) {
  return is_packed(problem)
             ? problem.seq_len_kv + total_keys(problem) / reference_blocks_of_head(problem)
             : problem.seq_len_kv;
}

double reference_flop_of_block(const Problem& problem) {
  constexpr double kFlopPerMultiplication = 2.0 * 2.0;  // each is done twice
  const auto padded = [](std::int64_t head_dim) {
    return reference_row_stride(static_cast<int>(head_dim)) - 4;
  };
  const std::int64_t tiles = (keys_of_block(problem) + kReferenceKeys - 1) / kReferenceKeys;
  return static_cast<double>(tiles * kReferenceKeys * rows_of_block(problem)) *
         kFlopPerMultiplication * (padded(problem.d_head) + padded(problem.d_head_v));
}

// The number of blocks that one SM computes: their rows are few where the keys are many.
double reference_blocks_of_sm(const Problem& problem, int sm_count) {
  const auto blocks =
      static_cast<double>(reference_blocks_of_head(problem) * output_heads(problem));
  return std::ceil(blocks / std::max(1, sm_count));
}

}  // namespace

void Deadlines::begin_problem(const Problem& problem, int sm_count) {
  reference_us_ = reference_blocks_of_sm(problem, sm_count) * reference_flop_of_block(problem) /
                  settings_.reference_flop_per_us;
  allowance_us_ = literature_flop(problem) / kSlowestFlopPerUs;
  best_us_ = 0.0;
  // Without keys there is no FLOP.
  probe_share_ = literature_flop(probe_problem(problem)) / std::max(1.0, literature_flop(problem));
  probe_kinds_ = probe_kinds(problem).size();
}

std::chrono::milliseconds Deadlines::references() const {
  static_assert(kMostProbeKinds < kReferencesAtOnce);
  const std::chrono::duration<double, std::micro> allowed(kReferencesAtOnce * reference_us_);
  return std::chrono::ceil<std::chrono::milliseconds>(allowed);
}

std::chrono::milliseconds Deadlines::verification() const {
  return references() + within(1.0 + static_cast<double>(probe_kinds_) * probe_share_);
}

DeadlineSettings under_tool(const DeadlineSettings& settings) {
  constexpr int kTimes = 20;
  return {settings.start * kTimes,    settings.problem * kTimes,
          settings.floor * kTimes,    settings.times_best * kTimes,
          settings.counting * kTimes, settings.reference_flop_per_us / kTimes};
}

DeadlineSettings deadline_settings_from_environment() {
  DeadlineSettings settings;
  const auto text = environment_variable(kVariable);
  if (!text) {
    return settings;
  }
  settings.floor = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(positive_seconds(*text)));
  settings.start = std::max(settings.start, settings.floor);
  settings.problem = std::max(settings.problem, settings.floor);
  return settings;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

std::string worker_program(bool launched) {
  if (const auto chosen = environment_variable("FATUNE_WORKER")) {
    return *chosen;
  }
  // The link stays usable after the program is rebuilt. Under a launcher it would name the
  // launcher.
  return launched ? fs::read_symlink(kThisProgram).string() : kThisProgram;
}

}  // namespace

WorkerSettings worker_settings(int device_ordinal, const std::vector<std::string>& launcher) {
  const bool launched = !launcher.empty();
  const DeadlineSettings deadlines = deadline_settings_from_environment();
  return {{worker_program(launched), launcher},
          device_ordinal,
          launched ? under_tool(deadlines) : deadlines};
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoGrace{0};
constexpr milliseconds kEndGrace{2000};
constexpr milliseconds kLauncherEndGrace{120'000};  // a profiler writes its report then
// A worker that closed its connection is about to end, and how it ends says what happened. The
// driver takes some time to tear it down.
constexpr milliseconds kDeathGrace{10'000};

bool wrote_outside(const Outcome& outcome) {
  const auto* wrong = std::get_if<WrongResult>(&outcome);
  return wrong != nullptr &&
         std::ranges::any_of(wrong->verification.inputs,
                             [](const ErrorStats& stats) { return stats.guard_bytes_changed > 0; });
}

std::string with_output(const std::string& what, const std::string& output) {
  const std::size_t first = output.find_first_not_of(" \n");
  const std::size_t last = output.find_last_not_of(" \n");
  return first == std::string::npos
             ? what
             : fmt::format("{}; it printed: {}", what, output.substr(first, last + 1 - first));
}

}  // namespace

milliseconds Conversation::patience(milliseconds grace) const {
  return has_launcher_ && grace > kNoGrace ? kLauncherEndGrace : grace;
}

void Conversation::finish() {
  static_cast<void>(
      process_->channel().send(message_of("shutdown", {}), Channel::Clock::now() + kEndGrace));
  process_->end(patience(kEndGrace));
  drop();
}

Death Conversation::died(const std::string& how, milliseconds grace) {
  const WorkerEnd end = process_->end(patience(grace));
  const std::string what = with_output(fmt::format("{}: {}", how, end.text), process_->output());
  killed_ = end.killed_by_others;
  drop();
  return {Crashed{what}};
}

std::optional<Death> Conversation::tell(const Message& request, milliseconds within) {
  // If the worker has gone, it may have said why. await() finds out.
  const Exchange sent = process_->channel().send(request, Channel::Clock::now() + within);
  return sent == Exchange::too_late ? std::optional(hung(within)) : std::nullopt;
}

Reply Conversation::ask(const Message& request, milliseconds within) {
  if (std::optional<Death> death = tell(request, within)) {
    return *std::move(death);
  }
  return await(within);
}

Reply Conversation::await(milliseconds within) {
  try {
    Message message;
    switch (process_->channel().receive(message, Channel::Clock::now() + within)) {
      case Exchange::done:
        static_cast<void>(type_of(message));
        return message;
      case Exchange::too_late:
        return hung(within);
      case Exchange::closed:
        break;
    }
    return died("the worker process died", kDeathGrace);
  } catch (const ProtocolError& error) {
    return {Death{nonsense(error.what())}};
  }
}

Outcome Conversation::nonsense(const std::string& what) {
  return died(fmt::format("the worker process sent nonsense ({})", what), kNoGrace).outcome;
}

Outcome Conversation::unexpected(const Message& message) {
  return nonsense(fmt::format("an answer '{}'", type_of(message)));
}

Outcome Conversation::failure_of(const Message& message) {
  if (type_of(message) != "rejected") {
    return unexpected(message);
  }
  try {
    Rejection rejection = read_message<Rejection>(message);
    if (rejection.lost) {
      process_->end(patience(kEndGrace));
      if (auto* crashed = std::get_if<Crashed>(&rejection.outcome)) {
        crashed->error = with_output(crashed->error, process_->output());
      }
      drop();
    } else if (wrote_outside(rejection.outcome)) {
      if (has_launcher_) {
        finish();  // lets the tool write its report
      }
      drop();
    }
    return rejection.outcome;
  } catch (const ProtocolError& error) {
    return nonsense(error.what());
  }
}

namespace {

constexpr int kStartAttempts = 3;

constexpr const char* kDoctorHint = "'fatune doctor' checks the driver and the GPU";

}  // namespace

RemoteWorker::RemoteWorker(WorkerSettings settings, const MeasurePolicy& policy)
    : settings_(std::move(settings)), policy_(policy), deadlines_(settings_.deadlines) {
  ensure();
}

RemoteWorker::~RemoteWorker() {
  try {
    if (runs()) {
      conversation_->finish();
    }
  } catch (const std::exception& error) {
    spdlog::debug("the worker could not be told to end: {}", error.what());
  }
}

// A failure here is that of the device or the program, because nothing is known to be wrong with
// the worker or the problem.
void RemoteWorker::ensure() {
  int kills = 0;
  for (int attempt = 1; !runs(); ++attempt) {
    try {
      start();
      if (problem_) {
        start_problem();
      }
    } catch (const Error& error) {
      attempt -= was_killed() && ++kills <= kKillsForgiven ? 1 : 0;
      if (conversation_) {
        conversation_->drop();
      }
      if (attempt == kStartAttempts || error.code() != ExitCode::gpu_failure) {
        throw;
      }
      spdlog::debug("starting the worker again: {}", error.what());
    }
  }
}

void RemoteWorker::start() {
  const AddedSeconds starting(start_s_);
  conversation_.reset();
  conversation_ = std::make_unique<Conversation>(settings_.command);
  ++started_;
  admissions_ = 0;
  const Reply reply = conversation_->ask(
      message_of("hello", {},
                 Hello{kProtocolVersion, settings_.device_ordinal, policy_, settings_.count_rows}),
      deadlines_.start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                "the worker process did not start: " + outcome_summary(death->outcome),
                settings_.command.program, kDoctorHint);
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "refused") {
    throw read_error(message);
  }
  try {
    const DeviceLimits limits = read_ready(message);
    limits_ = limits_.value_or(limits);
  } catch (const ProtocolError& error) {
    throw Error(ExitCode::gpu_failure, error.what(), settings_.command.program);
  }
}

void RemoteWorker::start_problem() {
  const AddedSeconds busy(busy_s_);
  const Reply reply = conversation_->ask(begin_problem_message(*problem_), deadlines_.problem());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("the worker process failed to prepare {}: {}",
                            describe(problem_->problem), outcome_summary(death->outcome)),
                {}, kDoctorHint);
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "failed") {
    throw read_error(message);
  }
  if (type_of(message) != "done") {
    throw Error(ExitCode::gpu_failure, outcome_summary(conversation_->unexpected(message)));
  }
}

void RemoteWorker::begin_problem(ProblemStart start) {
  deadlines_.begin_problem(start.problem, limits().sm_count);
  problem_ = std::move(start);
  try {
    if (runs()) {
      start_problem();
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::gpu_failure) {
      problem_.reset();
      throw;
    }
    conversation_->drop();
  }
  ensure();
}

}  // namespace fatune

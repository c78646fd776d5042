#include "engine/measuring_evaluator.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "engine/interrupt.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"
#include "measure/remote_worker.hpp"

namespace fatune {
namespace {

// Opening never follows a symbolic link and never waits for the writer of a FIFO, because any user
// may create files in the folder.
constexpr int kLockFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

/// Creates the file for all users, whatever the umask of the first one. Only the process that has
/// created the file changes its mode, because an existing one may be a link to another user's file.
int make_lock_file(const std::string& path) {
  constexpr mode_t kEverybody = 0666;
  const int made = ::open(path.c_str(), kLockFlags | O_CREAT | O_EXCL, kEverybody);
  if (made >= 0) {
    static_cast<void>(::fchmod(made, kEverybody));
  }
  return made;
}

/// Opens the file, and creates it only if it does not exist: in a sticky folder the kernel refuses
/// to "create" a file that another user already has there. Tries again if another process has
/// created it first, or has yet to set its mode.
int open_lock_file(const std::string& path) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{5};
  for (int i = 0; i < kTries; ++i) {
    int file = ::open(path.c_str(), kLockFlags);
    file = file < 0 && errno == ENOENT ? make_lock_file(path) : file;
    if (file >= 0 || (errno != EEXIST && errno != EACCES)) {
      return file;
    }
    std::this_thread::sleep_for(kPause);
  }
  return -1;
}

bool is_regular(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/// Returns no descriptor, and sets errno, if the file cannot be used.
Descriptor open_regular_lock_file(const std::string& path) {
  Descriptor file(open_lock_file(path));
  if (file.get() < 0 || is_regular(file.get())) {
    return file;
  }
  file.close();
  errno = EINVAL;
  return file;
}

std::string lock_path(const std::string& uuid) {
  std::string name = "fatune-";
  for (const char c : uuid) {
    const bool plain = (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-';
    name += plain ? c : '_';
  }
  return environment_variable("FATUNE_LOCK_DIR").value_or("/tmp") + "/" + name + ".lock";
}

bool try_lock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

/// Polls, because a signal need not arrive at this thread.
void wait_for(const Descriptor& file, const std::string& path) {
  constexpr std::chrono::milliseconds kInterval{50};
  while (!try_lock(file)) {
    const int error = errno;
    if (InterruptWatch::interrupted() || error != EWOULDBLOCK) {
      throw InterruptWatch::interrupted()
          ? Error(ExitCode::interrupted, "interrupted while waiting for the GPU", path)
          : Error(ExitCode::io, fmt::format("cannot lock: {}", std::strerror(error)), path);
    }
    std::this_thread::sleep_for(kInterval);
  }
}

WorkerSettings settings_for(const MeasuringSetup& setup) {
  WorkerSettings settings = worker_settings(setup.device_ordinal, setup.launcher);
  settings.count_rows = setup.count_rows;
  return settings;
}

/// Sets the architecture to compile for, which may differ from the GPU's.
DeviceLimits with_arch(DeviceLimits limits, Arch arch) {
  limits.arch = arch;
  return limits;
}

/// Turns the device gate off. A profiler serialises launches, so a host that waits for the gate
/// would wait forever.
MeasurePolicy counting_policy(MeasurePolicy policy) {
  policy.device_gate = false;
  return policy;
}

}  // namespace

DeviceLock::DeviceLock(const std::string& uuid, LockWait wait,
                       const std::function<void()>& on_wait) {
  const std::string path = lock_path(uuid);
  file_ = open_regular_lock_file(path);
  if (file_.get() < 0) {
    throw Error(ExitCode::io, fmt::format("cannot open: {}", std::strerror(errno)), path,
                "this file prevents two measurements on one GPU at a time; it must be a plain file "
                "that all users may read: remove it, or check the folder's permissions");
  }
  if (!try_lock(file_)) {
    if (wait == LockWait::no) {
      throw Error(ExitCode::gpu_busy, "another fatune measures on this GPU", path,
                  "wait for it, leave out --no-wait, or choose another GPU with --device");
    }
    on_wait();
    wait_for(file_, path);
  }
}

MeasuringEvaluator::MeasuringEvaluator(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      rates_by_type_({setup.rates_sources, setup.arch, setup.cache}, setup.problems,
                     [this](const Artifact& kernel) { return measurer_.device_rates(kernel); }),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(settings_for(setup), setup.policy),
      limits_(with_arch(measurer_.limits(), setup.arch)),
      counters_(measurer_, setup.arch, setup.counters) {}

void MeasuringEvaluator::begin_problem(const Problem& problem, const RaceTerms& terms,
                                       RunLog& log) {
  race_.reset();
  problem_ = problem;
  terms_ = terms;
  terms_.at_one_clock = measurer_.policy().device_gate &&
                        follows_clock(problem, limits_, measurer_.policy().flush_l2);
  log_ = &log;
  // This comes before anything of the problem is on the GPU, and while the first kernels are
  // compiled.
  rates_ = rates_by_type_.of(problem.dtype);
}

/// Prepares the GPU for the problem when the first candidate needs it. Stored results do not need
/// it.
ProblemRace& MeasuringEvaluator::race() {
  if (!race_) {
    measurer_.begin_problem(problem_, kernels_.of(problem_), terms_.part);
    race_ = std::make_unique<ProblemRace>(measurer_, terms_, *log_, &counters_);
  }
  return *race_;
}

void MeasuringEvaluator::close() {
  if (race_) {
    race_->close();
  }
}

Evaluation MeasuringEvaluator::finish() {
  Evaluation evaluation = race_ ? race_->finish() : Evaluation{};
  evaluation.rates = rates_;
  return evaluation;
}

CountingSession::CountingSession(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(worker_settings(setup.device_ordinal, setup.launcher),
                counting_policy(setup.policy)) {
  const Problem& problem = setup.problems.front();
  check_fits(problem, measurer_.policy(), measurer_.limits());
  measurer_.begin_problem(problem, kernels_.of(problem));
}

Counted CountingSession::count(const CandidateKernel& kernel, const CountRequest& request) {
  const CandidateId id{next_.index++};
  if (Admission admission = measurer_.admit(id, kernel); admission.failure) {
    return {{}, std::move(admission.failure)};
  }
  Counted counted = measurer_.count(id, request);
  measurer_.retire(id);
  return counted;
}

}  // namespace fatune

#include "commands/profile/profile.hpp"

#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/error.hpp"
#include "base/file_tree.hpp"
#include "base/run_program.hpp"
#include "gpu/machine.hpp"
#include "inspect/counters/ncu.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// Runs ncu in the C locale, because its tables depend on the locale.
std::string run_ncu(const std::string& program, const std::vector<std::string>& arguments) {
  return run_program(program, arguments, {}, {{}, {"LC_ALL=C"}}).out;
}

std::string messages_in(const fs::path& log) {
  std::error_code ignored;
  return fs::exists(log, ignored) ? read_disk_file(log) : std::string{};
}

/// The files of one run of the profiler.
struct Session {
  fs::path report;
  fs::path log;

  explicit Session(const fs::path& folder, const std::string& stem)
      : report(folder / (stem + ".ncu-rep")), log(folder / (stem + ".log")) {
    std::error_code ignored;
    fs::remove(report, ignored);
    fs::remove(log, ignored);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    std::error_code ignored;
    fs::remove(log, ignored);
  }
};

NcuProfile profile_of(const Session& session, const CountPlan& plan, Arch arch) {
  NcuProfile profile;
  profile.report = session.report.string();
  profile.log = session.log.string();
  profile.metrics = raw_metrics(plan.fields, arch.sm);
  profile.set = plan.all_sections ? "full" : "basic";
  profile.sections = {"MemoryWorkloadAnalysis"};
  return profile;
}

std::size_t launches_expected(const Attempt& attempt, int runs) {
  return std::accumulate(attempt.cases.begin(), attempt.cases.end(), std::size_t{0},
                         [runs](std::size_t sum, const CountedCase& one) {
                           return sum + (one.failure ? 0U : static_cast<std::size_t>(runs));
                         });
}

[[noreturn]] void fail_other_launches(const std::string& what, const fs::path& report) {
  throw Error(ExitCode::gpu_failure, "the profile is not that of the requested launches: " + what,
              report.string(), "profile with fewer configurations, or report it as a bug");
}

/// Assigns the report's launches to the cases. They are in the order in which they were counted.
void deal_out(const std::vector<ProfiledLaunch>& launches, const std::vector<CountCase>& cases,
              int runs, const fs::path& report, Attempt& attempt) {
  const std::size_t expected = launches_expected(attempt, runs);
  if (launches.size() != expected) {
    fail_other_launches(fmt::format("{} launches instead of {}", launches.size(), expected),
                        report);
  }
  auto next = launches.begin();
  for (std::size_t i = 0; i < attempt.cases.size(); ++i) {
    for (int run = 0; !attempt.cases[i].failure && run < runs; ++run, ++next) {
      if (!cases[i].is_kernel(next->kernel_name)) {
        fail_other_launches(
            fmt::format("launch {} is of '{}' instead of '{}'", next - launches.begin(),
                        next->kernel_name, cases[i].kernel.label),
            report);
      }
      attempt.cases[i].runs.push_back(next->counters);
    }
  }
}

/// Profiles some cases in one run of the profiler.
Attempt profile_cases(const Ncu& ncu, MeasuringSetup& setup, const CountPlan& plan,
                      const std::vector<CountCase>& cases, const fs::path& folder,
                      const std::string& stem, const BeforeCase& before) {
  const Session session(folder, stem);
  setup.launcher = ncu_profile_arguments(profile_of(session, plan, setup.arch));
  setup.launcher.insert(setup.launcher.begin(), ncu.program);
  Attempt attempt;
  try {
    attempt = run_under_tool(setup, plan, cases, before);
  } catch (const Error&) {
    if (const std::string messages = messages_in(session.log); has_ncu_errors(messages)) {
      throw ncu_failure(messages, ncu.program);
    }
    throw;
  }
  if (launches_expected(attempt, plan.runs) == 0 || (!attempt.whole && cases.size() > 1)) {
    return attempt;
  }
  if (!fs::exists(session.report)) {
    throw ncu_failure(messages_in(session.log), ncu.program);
  }
  const std::string table = run_ncu(ncu.program, ncu_table_arguments(session.report.string()));
  deal_out(read_ncu_csv(table, session.report.string(), true), cases, plan.runs, session.report,
           attempt);
  return attempt;
}

void write_text(const Ncu& ncu, const fs::path& report) {
  if (fs::exists(report)) {
    write_output_file(fs::path(report).replace_extension(".txt"),
                      run_ncu(ncu.program, ncu_text_arguments(report.string())));
  }
}

}  // namespace

Attempt run_under_tool(const MeasuringSetup& setup, const CountPlan& plan,
                       const std::vector<CountCase>& cases, const BeforeCase& before) {
  CountingSession session(setup);
  Attempt attempt;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    attempt.cases.push_back({{}, session.count(one.kernel, {plan.runs, {}}).failure});
  }
  attempt.whole = session.whole();
  return attempt;
}

std::vector<CountedCase> count_with_cupti(const MeasuringSetup& setup, const CountPlan& plan,
                                          const std::vector<CountCase>& cases,
                                          const BeforeCase& before) {
  const CountRequest request{plan.runs, hardware_metrics(plan.fields, setup.arch.sm)};
  CountingSession session(setup);
  std::vector<CountedCase> results;
  for (const CountCase& one : cases) {
    if (!before(one.kernel)) {
      break;
    }
    Counted counted = session.count(one.kernel, request);
    for (RawCounters& run : counted.runs) {
      run[kRegistersMetric] = one.kernel.artifact->facts.registers_per_thread;
    }
    results.push_back({std::move(counted.runs), std::move(counted.failure)});
  }
  return results;
}

Ncu find_profiler() {
  const auto program = find_tool("ncu");
  if (!program) {
    throw Error(
        ExitCode::bad_file, "ncu, NVIDIA's Nsight Compute, is not installed", {},
        "it comes with the CUDA toolkit, or as a package of its own (nsight-compute); or "
        "give its path in FATUNE_NCU; '--backend cupti' works without it, and '--script DIR' "
        "writes scripts for another machine");
  }
  if (counter_access() == CounterAccess::admins_only) {
    throw Error(ExitCode::gpu_failure,
                "there is no permission to read the GPU's performance counters",
                "/proc/driver/nvidia/params", counter_permission_remedy());
  }
  return {program->string(), ncu_version(run_ncu(program->string(), {"--version"}))};
}

std::vector<CountedCase> count_with_ncu(const Ncu& ncu, MeasuringSetup setup, const CountPlan& plan,
                                        const std::vector<CountCase>& cases, const NcuFiles& files,
                                        const BeforeCase& before) {
  Attempt all = profile_cases(ncu, setup, plan, cases, files.folder, files.stem, before);
  std::vector<std::string> stems{files.stem};
  if (!all.whole && cases.size() > 1) {
    stems.clear();
    all.cases.clear();
    for (const CountCase& one : cases) {
      stems.push_back(fmt::format("{}_{}", files.stem, stems.size() + 1));
      Attempt alone = profile_cases(ncu, setup, plan, {one}, files.folder, stems.back(), before);
      if (alone.cases.empty()) {
        break;
      }
      all.cases.push_back(std::move(alone.cases.front()));
    }
  }
  for (const std::string& stem : files.with_text ? stems : std::vector<std::string>{}) {
    write_text(ncu, files.folder / (stem + ".ncu-rep"));
  }
  return std::move(all.cases);
}

std::vector<ProfiledLaunch> read_profile(const fs::path& file) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  if (file.extension() != ".ncu-rep") {
    return read_ncu_csv(read_disk_file(file, kMostBytes), file.string());
  }
  const auto program = find_tool("ncu");
  if (!program) {
    throw Error(ExitCode::bad_file, "ncu, which reads such a report, is not installed",
                file.string(),
                "on a machine with it: ncu --import FILE --csv --page raw > FILE.csv");
  }
  return read_ncu_csv(run_ncu(program->string(), ncu_table_arguments(file.string())), file.string(),
                      true);
}

}  // namespace fatune

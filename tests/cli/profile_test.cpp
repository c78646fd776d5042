// Tests `fatune profile` with stand-ins for ncu and nsys, the fake driver and the fake worker.
#include "cli/program.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

const std::string kFirst =
    "(FP16, 128, 128, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
const std::string kSecond = "(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles";

/// A stand-in for ncu. It prints table.csv as the table of an imported report. Otherwise it starts
/// the program to profile, and writes its messages, or a report if there are none.
constexpr const char* kNcu = R"sh(#!/bin/sh
here="$(dirname "$0")"
case "$1" in
  --version) echo "Version 2025.3.1.0 (build 1) (public-release)"; exit 0 ;;
  --import) if [ "$3" = --csv ]; then cat "$here/table.csv"; else echo "details of $2"; fi; exit 0 ;;
esac
printf '%s\n' "$@" > "$here/arguments.txt"
while [ $# -gt 0 ]; do
  case "$1" in
    --export) report="$2"; shift 2 ;;
    --log-file) log="$2"; shift 2 ;;
    --force-overwrite) shift ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
if [ -e "$here/messages.txt" ]; then cp "$here/messages.txt" "$log"; else : > "$report"; fi
exec "$@"
)sh";

/// A stand-in for nsys.
constexpr const char* kNsys = R"sh(#!/bin/sh
[ "$1" = stats ] && {
  echo "Processing [report]"
  echo 'Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),Name'
  echo "2000,2,1000.0,1000.0,900,1100,\"$7<2, 3>\""
  exit 0
}
while [ $# -gt 0 ]; do
  case "$1" in profile) shift ;; --output) shift 2 ;; --*) shift ;; *) break ;; esac
done
exec "$@"
)sh";

class Profile : public ProgramTest {
 protected:
  Profile() {
    use_fake_worker(json::object());
    use_tool("ncu", "FATUNE_NCU", kNcu);
  }

  void use_tool(const std::string& name, const char* variable, const char* script) {
    write(name, script);
    fs::permissions(path(name), fs::perms::owner_all);
    process_.environment[variable] = path(name);
  }

  /// Selects rows of the recorded report, by number, as the report of the profiler.
  void profile_gives(const std::vector<int>& launches) const {
    std::ifstream file(FATUNE_SOURCE_DIR "/tests/recorded/ncu/raw_base.csv");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    std::string table = lines.at(0) + "\n" + lines.at(1) + "\n";
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::string& line = lines.at(2 + static_cast<std::size_t>(launches[i]));
      table += "\"" + std::to_string(i) + line.substr(line.find("\",")) + "\n";
    }
    write("table.csv", table);
  }

  static std::vector<std::string> profile(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"profile", "--seq",    "512",  "--runs",
                                       "2",       "--config", kFirst, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(Profile, AveragesTheLaunchesOfEachConfiguration) {
  profile_gives({0, 2, 3, 3});
  const ProcessResult result = fatune(profile({"--config", kSecond, "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "profile");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["read_by"], "ncu 2025.3.1.0");
  const json& first = report["configs"][0];
  EXPECT_EQ(first["config"], kFirst);
  EXPECT_EQ(first["runs"], 2);
  EXPECT_DOUBLE_EQ(first["counters"]["duration_us"], (18.624 + 105.728) / 2);
  EXPECT_DOUBLE_EQ(first["counters"]["elapsed_cycles"], (33742.0 + 183300.0) / 2);
  EXPECT_EQ(first["counters"]["registers_per_thread"], 255);
  EXPECT_DOUBLE_EQ(first["counters"]["l2_hit_rate_percent"], (34.75 + 54.68) / 2);
  EXPECT_EQ(report["configs"][1]["counters"]["registers_per_thread"], 194);
}

TEST_F(Profile, ReportsInEveryFormatAndConvention) {
  profile_gives({2, 2});
  const json row = fatune_json(profile({"--format", "json"}))["configs"][0];
  const double us = row["counters"]["duration_us"];
  const double literature_flop = 4.0 * 512 * 512 * 128 * 16 * 16;
  EXPECT_NEAR(row["literature_tflops"], literature_flop / us * 1e-6, 1e-6);
  EXPECT_GT(row["attention_tflops"], row["literature_tflops"]);
  EXPECT_GT(row["total_tflops"], row["attention_tflops"]);
  EXPECT_EQ(row["relative_percent"], 100.0);
  const std::string csv = fatune(profile({"--csv"})).out;
  EXPECT_THAT(csv, AllOf(HasSubstr("dtype,batch,seq_len,heads,d_head,"),
                         HasSubstr("duration_us,elapsed_cycles,"
                                   "registers_per_thread,"
                                   "l2_hit_rate_percent")));
  EXPECT_THAT(fatune(profile()).out, HasSubstr("105.73  183300   255     54.68"));
  EXPECT_THAT(fatune(profile({"--format", "md"})).out, HasSubstr("| 105.73 |"));
}

TEST_F(Profile, ManyFiguresHaveRowsOfTheirOwn) {
  profile_gives({2, 2});
  const std::string table = fatune(profile({"--metrics", "attention"})).out;
  EXPECT_THAT(table, HasSubstr("achieved_occupancy_percent"));
  EXPECT_THAT(
      read("arguments.txt"),
      HasSubstr("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"));
}

TEST_F(Profile, AsksForTheMarkedLaunchesAndLeavesTheClocksAlone) {
  profile_gives({2, 2});
  expect_ok(fatune(profile({"--metrics", "lts__t_bytes.sum"})));
  const std::string arguments = read("arguments.txt");
  EXPECT_THAT(arguments, HasSubstr("--profile-from-start\noff\n"));
  EXPECT_THAT(arguments, HasSubstr("--clock-control\nnone\n"));
  EXPECT_THAT(arguments, HasSubstr("lts__t_bytes.sum"));
  EXPECT_THAT(arguments, HasSubstr("--set\nbasic\n--section\nMemoryWorkloadAnalysis\n"));
  expect_ok(fatune(profile({"--metrics", "full"})));
  EXPECT_THAT(read("arguments.txt"), HasSubstr("--set\nfull\n"));
}

TEST_F(Profile, KeepsTheRawReportAndATextOne) {
  profile_gives({2, 2});
  expect_ok(fatune(profile({"--out", path("out")})));
  expect_schema(read("out/profile.json"), "profile");
  EXPECT_THAT(read("out/profile.csv"), HasSubstr(kFirst));
  EXPECT_TRUE(fs::exists(path("out/b16_s512_h16_d128_FP16.ncu-rep")));
  EXPECT_THAT(read("out/b16_s512_h16_d128_FP16.txt"), HasSubstr("details of"));
  EXPECT_FALSE(fs::exists(path("out/b16_s512_h16_d128_FP16.log")));
}

TEST_F(Profile, TheBaselineIsProfiledToo) {
  profile_gives({2, 2, 3, 3});
  const json rows = fatune_json(profile({"--baseline", kSecond, "--format", "json"}))["configs"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[1]["relative_percent"], 100.0);
  EXPECT_NEAR(rows[0]["relative_percent"], 100.0 * 53.408 / 105.728, 1e-9);
}

TEST_F(Profile, TheFirstOfAStoredRunStandBesideItsMedians) {
  use_fake_worker(json{{"us", {{"opt_softmax", 100.0}, {"load_0_0_0", 200.0}}}});
  expect_ok(fatune(
      {"run", "--seq", "512", "--config", kSecond, "--config", kFirst, "-q", "--db", path("db")}));
  profile_gives({2, 2});
  const json report = fatune_json({"profile", "--run", "last", "--top", "1", "--runs", "2", "--db",
                                   path("db"), "--format", "json", "-q"});
  EXPECT_EQ(report["source"], "the last run");
  ASSERT_EQ(report["configs"].size(), 1U);
  const json& row = report["configs"][0];
  EXPECT_EQ(row["config"], kFirst);
  EXPECT_NEAR(row["sweep_us"], 100.0, 1e-6);
  EXPECT_NEAR(row["sweep_difference_percent"], 5.728, 1e-6);
  expect_error(fatune({"profile", "--run", "last", "--seq", "64", "--db", path("db")}),
               ExitCode::usage, {"nothing to profile"});
}

TEST_F(Profile, AForeignReportIsNotBelieved) {
  profile_gives({2});
  expect_error(fatune(profile()), ExitCode::gpu_failure, {"1 launches instead of 2"});
  profile_gives({2, 3});
  expect_error(fatune(profile()), ExitCode::gpu_failure, {"launch 1 is of", "instead of"});
  write("table.csv", "garbage\n");
  expect_error(fatune(profile()), ExitCode::bad_file, {"no table"});
}

TEST_F(Profile, AWrongKernelIsNotProfiled) {
  use_fake_worker(json{{"wrong", {{"opt_softmax", "greatest error 3"}}}});
  profile_gives({3, 3});
  const json rows = fatune_json(profile({"--config", kSecond, "--format", "json"}))["configs"];
  EXPECT_EQ(rows[0]["outcome"], "wrong_result");
  EXPECT_THAT(rows[0]["detail"].get<std::string>(), HasSubstr("greatest error 3"));
  EXPECT_EQ(rows[0]["runs"], 0);
  EXPECT_EQ(rows[1]["outcome"], "profiled");
}

TEST_F(Profile, ABaselineWithoutADurationIsSaid) {
  use_fake_worker(json{{"wrong", {{"opt_softmax", "greatest error 3"}}}});
  profile_gives({3, 3});
  const ProcessResult result =
      fatune({"profile", "--config", kSecond, "--seq", "512", "--runs", "2", "--baseline", kFirst});
  EXPECT_THAT(result.err, HasSubstr("the baseline has no duration; percentages refer to the"));
}

TEST_F(Profile, ACrashCostsNoOtherConfigurationItsCounters) {
  use_fake_worker(
      json{{"faults", {{{"at", "count"}, {"label", "opt_softmax"}, {"do", "signal 11"}}}}});
  profile_gives({3, 3});  // of the second configuration, which ends up profiled alone
  const json rows = fatune_json(profile({"--config", kSecond, "--format", "json"}))["configs"];
  EXPECT_EQ(rows[0]["outcome"], "crashed");
  EXPECT_EQ(rows[1]["outcome"], "profiled");
}

TEST_F(Profile, WhatStandsInTheWayIsToldApart) {
  write("messages.txt", "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  expect_error(fatune(profile()), ExitCode::gpu_failure,
               {"no permission", "NVreg_RestrictProfilingToAdminUsers=0"});
  write("messages.txt", "==ERROR== Profiling is not supported on device 0.\n");
  expect_error(fatune(profile()), ExitCode::no_gpu, {"does not support this GPU"});
  write("messages.txt", "==WARNING== No kernels were profiled.\n");
  expect_error(fatune(profile()), ExitCode::gpu_failure, {"no launch to profile"});
  process_.environment["FATUNE_NCU"] = path("nothing");
  expect_error(fatune(profile()), ExitCode::bad_file, {"is not an executable file"});
  process_.environment.erase("FATUNE_NCU");
  if (!fs::exists("/usr/local/cuda/bin/ncu") && !fs::exists("/opt/nvidia/nsight-compute")) {
    expect_error(fatune(profile()), ExitCode::bad_file, {"not installed", "FATUNE_NCU"});
  }
  expect_error(fatune(profile({"--device", "none"})), ExitCode::no_gpu, {"a GPU is required"});
}

TEST_F(Profile, CountsInTheProcess) {
  use_fake_worker(json{{"counts", {{"opt_softmax", {{"gpu__time_duration.sum", 105728.0}}}}}});
  const json report =
      fatune_json(profile({"--backend", "cupti", "--metrics", "core", "--format", "json"}));
  EXPECT_EQ(report["read_by"], "cupti");
  EXPECT_DOUBLE_EQ(report["configs"][0]["counters"]["duration_us"], 105.728);
  EXPECT_EQ(report["configs"][0]["counters"].count("l2_hit_rate_percent"), 0U);
  EXPECT_GT(report["configs"][0]["counters"]["registers_per_thread"], 0);
}

TEST_F(Profile, ReadsAReportMadeElsewhere) {
  const std::string recorded = FATUNE_SOURCE_DIR "/tests/recorded/ncu/";
  for (const char* name : {"raw_base.csv", "details_base.csv"}) {
    const ProcessResult result =
        fatune({"profile", "--import", recorded + name, "--format", "json"});
    expect_ok(result);
    expect_schema(result.out, "profile");
    EXPECT_EQ(json::parse(result.out)["configs"][0]["config"], kFirst) << name;
  }
  expect_error(fatune({"profile", "--import", recorded + "written_de.csv"}), ExitCode::bad_file,
               {"written_de.csv", "LC_ALL=C"});
  write("bad.csv", "\"ID\",\"Kernel Name\"\n\"0");
  expect_error(fatune({"profile", "--import", path("bad.csv")}), ExitCode::bad_file, {"bad.csv"});
  expect_error(fatune({"profile", "--import", path("none.csv")}), ExitCode::bad_file, {"none.csv"});
  for (const char* const time : {"1e+308", "0", "-5"}) {
    write("time.csv",
          std::string("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n"
                      "\"0\",\"k\",\"") +
              time + "\"\n");
    expect_error(fatune({"profile", "--import", path("time.csv")}), ExitCode::bad_file,
                 {"time.csv: k: duration_us", "not the time of a kernel"});
  }
}

TEST_F(Profile, WritesScriptsWithoutAGpu) {
  process_.environment["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so.1";
  const ProcessResult result = fatune(profile({"--script", path("it's here")}));
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("ncu_b16_s512_h16_d128_FP16_1.sh"),
                                HasSubstr("nsys_b16_s512_h16_d128_FP16.sh"), HasSubstr("all.sh")));
  // The scripts pass the program's arguments back unchanged.
  use_tool("fatune", "FATUNE", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
  const ProcessResult run = run_process({path("it's here/all.sh"), path("a b")}, process_);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr(kFirst + "\n"), HasSubstr("--metrics\nfull\n"),
                             HasSubstr(path("a b")), HasSubstr("--nsys\n")));
}

TEST_F(Profile, ATimelineNeedsAToolAndAFolder) {
  expect_error(fatune(profile({"--nsys"})), ExitCode::usage, {"--out DIR"});
  use_tool("nsys", "FATUNE_NSYS", kNsys);
  const ProcessResult result = fatune(profile({"--nsys", "--out", path("out")}));
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("kernel"), HasSubstr("1.1  cuda_gpu_kern_sum<2, 3>"),
                                HasSubstr("range"), HasSubstr("nvtx_sum<2, 3>")));
  const json rows =
      fatune_json(profile({"--nsys", "--out", path("out"), "--format", "json"}))["rows"];
  EXPECT_EQ(rows[0]["report"], path("out/b16_s512_h16_d128_FP16.nsys-rep"));
  EXPECT_EQ(rows[0]["mean_us"], 1.0);
}

TEST_F(Profile, BadOptionsAreRefusedBeforeAnythingRuns) {
  expect_error(fatune(profile({"--metrics", "l2"})), ExitCode::usage, {"no metric 'l2'"});
  expect_error(fatune(profile({"--backend", "x"})), ExitCode::usage, {"no backend 'x'"});
  expect_error(fatune(profile({"--runs", "0"})), ExitCode::usage, {"--runs"});
  expect_error(fatune(profile({"--backend", "cupti", "--metrics", "full"})), ExitCode::usage,
               {"no sections"});
  EXPECT_FALSE(fs::exists(path("arguments.txt")));
}

}  // namespace
}  // namespace fatune::testing_cli

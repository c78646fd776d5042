// Tests full disks, folders that cannot be written, damaged caches, and programs that are not
// workers.
#include <algorithm>
#include <filesystem>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Robustness : public ProgramTest {
 protected:
  Robustness() { use_fake_worker(json::object()); }

  static std::vector<std::string> sweep_with(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "sweep", "--kernel-dir", kToyFolder, "--seq",   "128",      "--batch", "1", "--heads",
        "1",     "--dtype",      "fp16",     "--no-db", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  ProcessResult sweep(const std::vector<std::string>& more = {}) {
    return fatune(sweep_with(more));
  }
  /// Runs `script`, which refers to the program as "$0" "$@".
  ProcessResult sweep_by_shell(const std::string& script, const std::vector<std::string>& more) {
    std::vector<std::string> command{"/bin/sh", "-c", script, FATUNE_PROGRAM};
    const std::vector<std::string> arguments = sweep_with(more);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, process_);
  }
  void expect_no_worker(const std::string& program, const std::vector<std::string>& parts) {
    process_.environment["FATUNE_WORKER"] = program;
    expect_error(sweep(), ExitCode::gpu_failure, parts);
  }
  /// Writes an executable file.
  [[nodiscard]] std::string program_of(const std::string& text) const {
    write("program", text);
    fs::permissions(path("program"), fs::perms::owner_all);
    return path("program");
  }
};

TEST_F(Robustness, AFullDiskEndsWithAnErrorAndThePrintedResults) {
  expect_ok(sweep());  // compiles the kernels
  const ProcessResult result =
      sweep_by_shell("ulimit -f 8; exec \"$0\" \"$@\"", {"--out", path("out")});
  expect_error(result, ExitCode::io, {"out/results.json", "cannot write"});
  EXPECT_EQ(json::parse(result.out)["problems"][0]["ranking"].size(), 3U);
  for (const auto& file : fs::directory_iterator(path("out"))) {
    EXPECT_THAT(file.path().string(), Not(HasSubstr(".tmp")));
  }
}

TEST_F(Robustness, AMissingFolderForTemporaryFilesIsSaid) {
  process_.environment["TMPDIR"] = "/nonexistent";
  expect_error(fatune({"cache", "export", path("bundle.db")}), ExitCode::io,
               {"/nonexistent", "TMPDIR"});
  expect_ok(sweep());
}

TEST_F(Robustness, ProcessesWithDifferentTemporaryFoldersExcludeEachOther) {
  expect_ok(sweep());
  const auto lock =
      std::find_if(fs::directory_iterator(folder_), fs::directory_iterator(),
                   [](const auto& file) { return file.path().extension() == ".lock"; });
  ASSERT_NE(lock, fs::directory_iterator());
  fs::create_directory(path("other"));
  process_.environment["TMPDIR"] = path("other");
  process_.environment["LOCK"] = lock->path();
  expect_error(sweep_by_shell("exec 9<\"$LOCK\"; flock 9; \"$0\" \"$@\"", {"--no-wait"}),
               ExitCode::gpu_busy, {"another fatune measures"});
}

TEST_F(Robustness, AHugeInputIsRefusedBeforeItIsRead) {
  write("huge.json", "");
  fs::resize_file(path("huge.json"), std::uintmax_t{8} << 30);  // sparse
  const ProcessResult result = run_process({"/bin/sh", "-c", "ulimit -d 600000; exec \"$0\" \"$@\"",
                                            FATUNE_PROGRAM, "import", path("huge.json")},
                                           process_);
  expect_error(result, ExitCode::bad_file, {"huge.json", "is larger than 1073741824 bytes"});
}

TEST_F(Robustness, StandardOutputThatIsFullIsAnError) {
  const ProcessResult result = sweep_by_shell("exec \"$0\" \"$@\" >/dev/full", {});
  expect_error(result, ExitCode::io, {"standard output"});
}

TEST_F(Robustness, AMaskLocksNobodyOutOfTheGpu) {
  expect_ok(sweep_by_shell("umask 077; exec \"$0\" \"$@\"", {}));
  int locks = 0;
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() == ".lock") {
      EXPECT_EQ(file.status().permissions(), static_cast<fs::perms>(0666));
      ++locks;
    }
  }
  EXPECT_EQ(locks, 1);
}

TEST_F(Robustness, HelpAndVersionThatCannotBeWrittenAreErrors) {
  for (const char* argument : {"--help", "--version", "list --help", "list", "devices"}) {
    for (const char* target : {">/dev/full", ">&-"}) {
      const std::string script = std::string("exec \"$0\" ") + argument + " " + target;
      expect_error(run_process({"/bin/sh", "-c", script, FATUNE_PROGRAM}, process_), ExitCode::io,
                   {"standard output", "cannot write"});
    }
  }
}

TEST_F(Robustness, StandardErrorThatCannotBeWrittenChangesNothing) {
  for (const char* target : {"2>/dev/full", "2>&-"}) {
    const ProcessResult result =
        sweep_by_shell(std::string("exec \"$0\" \"$@\" ") + target, {"-v", "--out", path("out")});
    EXPECT_EQ(result.exit_code, 0) << target;
    EXPECT_EQ(json::parse(result.out)["problems"][0]["ranking"].size(), 3U);
    EXPECT_EQ(read("out/results.json"), result.out);
    fs::remove_all(path("out"));
  }
}

TEST_F(Robustness, AReaderOfStandardErrorThatGoesAwayChangesNothing) {
  const ProcessResult result = sweep_by_shell(
      "{ \"$0\" \"$@\" 2>&1 >\"$HOME/result\"; echo $? >\"$HOME/code\"; } | true", {});
  EXPECT_EQ(read("code"), "0\n") << result.err;
  EXPECT_EQ(json::parse(read("result"))["problems"][0]["ranking"].size(), 3U);
}

TEST_F(Robustness, NoFileTakesThePlaceOfAClosedStream) {
  const ProcessResult result =
      sweep_by_shell("exec \"$0\" \"$@\" <&- >&- 2>&-", {"-v", "--out", path("out")});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::io));
  EXPECT_EQ(json::parse(read("out/results.json"))["problems"][0]["ranking"].size(), 3U);
}

TEST_F(Robustness, AReaderWhoHasSeenEnoughEndsItAsEver) {
  const ProcessResult result = run_process(
      {"/bin/bash", "-c", "\"$0\" list --space all | true; echo ${PIPESTATUS[0]}", FATUNE_PROGRAM},
      process_);
  EXPECT_EQ(result.out, "141\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(Robustness, ACacheThatCannotBeMadeOrWrittenIsAWarning) {
  for (const std::string folder : {"/proc/fatune", "/dev/full"}) {
    const ProcessResult result = sweep({"--cache-dir", folder});
    expect_ok(result);
    EXPECT_THAT(result.err, HasSubstr("warning")) << folder;
    EXPECT_THAT(result.err, HasSubstr(folder));
    EXPECT_EQ(json::parse(result.out)["problems"][0]["ranking"].size(), 3U);
  }
}

TEST_F(Robustness, WhatIsDamagedInTheCacheIsCompiledAnew) {
  const std::vector<std::string> more{"--cache-dir", path("cache")};
  expect_ok(sweep(more));
  int damaged = 0;
  for (const auto& file : fs::recursive_directory_iterator(path("cache"))) {
    if (file.path().extension() == ".artifact") {
      const std::string name = fs::relative(file.path(), folder_).string();
      std::string bytes = read(name);
      bytes[bytes.size() / 2] ^= 0x10;
      write(name, bytes);
      ++damaged;
    }
  }
  EXPECT_GE(damaged, 3);
  for (const bool cached : {false, true}) {
    const ProcessResult result = sweep(more);
    expect_ok(result);
    const json report = json::parse(result.out);
    ASSERT_EQ(report["problems"][0]["ranking"].size(), 3U);
    for (const json& entry : report["problems"][0]["ranking"]) {
      EXPECT_EQ(entry["from_cache"], cached) << entry["config"];
    }
  }
}

TEST_F(Robustness, AWorkerThatIsNoProgramIsNamed) {
  expect_no_worker("/nonexistent/worker", {"/nonexistent/worker", "No such file"});
  write("plain", "x");
  expect_no_worker(path("plain"), {path("plain"), "Permission denied"});
  expect_no_worker(program_of("no program at all\n"), {path("program"), "Exec format error"});
}

TEST_F(Robustness, AWorkerThatDoesNotSpeakTheProtocolIsNamedWithWhatItSaid) {
  expect_no_worker("/bin/true", {"/bin/true", "did not start", "exit status 0"});
  expect_no_worker(program_of("#!/bin/sh\necho I know no protocol\nexit 5\n"),
                   {path("program"), "exit status 5", "I know no protocol"});
  expect_no_worker(program_of("#!/bin/sh\necho nonsense, not a frame >&3\nsleep 10\n"),
                   {path("program"), "nonsense"});
}

TEST_F(Robustness, AWorkerThatAlwaysDiesIsAnError) {
  for (const char* at : {"hello", "begin_problem"}) {
    use_fake_worker({{"faults", json::array({{{"at", at}, {"do", "signal 11"}}})}});
    expect_error(sweep(), ExitCode::gpu_failure, {"worker process", "signal 11", "doctor"});
  }
}

TEST_F(Robustness, AWatchdogTimeThatIsNoneIsAnError) {
  for (const char* text : {"0", "-1", "soon", "5 s", "inf", "nan"}) {
    process_.environment["FATUNE_WATCHDOG_S"] = text;
    expect_error(sweep(), ExitCode::usage, {"FATUNE_WATCHDOG_S", text});
  }
}

}  // namespace
}  // namespace fatune::testing_cli

// Tests that the commands in README.md and docs/ work, and print what the documents show. An HTML
// comment before a code block says what is special about it:
//   shows: COMMAND      the block is what COMMAND prints, without a GPU
//   without a GPU       its commands run without a GPU; others have the fake GPU
//   exit code N         its commands run without a GPU, and end with this code
//   needs Nsight Compute   its commands get as far as that; runs that they name are stored ones
//   one file: NAME          the reader writes the block to a file of that name
#include "cli/program.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/document.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

namespace fs = std::filesystem;

const std::string kOneSpace = FATUNE_SOURCE_DIR "/tests/spaces/one.json";
const std::string kOneProblem = FATUNE_SOURCE_DIR "/tests/tuned/one_problem.json";
constexpr std::string_view kShows = "shows: ";
constexpr std::string_view kFile = "file: ";
constexpr std::array kDocuments{
    "README.md",        "CONTRIBUTING.md",   "docs/bring-your-own-kernel.md",
    "docs/cases.md",    "docs/check.md",     "docs/compare.md",
    "docs/debug.md",    "docs/emulate.md",   "docs/estimate.md",
    "docs/evaluate.md", "docs/export.md",    "docs/fleets.md",
    "docs/gate.md",     "docs/launch.md",    "docs/performance.md",
    "docs/profile.md",  "docs/reference.md", "docs/report.md",
    "docs/search.md",   "docs/tables.md",    "docs/workload.md"};

constexpr std::string_view kExitCode = "exit code ";
const std::set<std::string> kSearches{"check", "compile", "emulate", "sweep"};

/// Commands that search both types search only one of them, except in nightly runs.
void take_one_type(std::vector<std::string>& arguments) {
  const auto has = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  std::replace(arguments.begin(), arguments.end(), std::string("fp16,bf16"), std::string("fp16"));
  if (kSearches.contains(arguments.front()) && !has("--dtype") && !has("--config") &&
      !has("--preset") && !has("--workload")) {
    arguments.insert(arguments.end(), {"--dtype", "fp16"});
  }
}

/// Exported libraries have only the first shipped problem.
void take_one_problem(std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 2> kLibraries{"cpp", "torch"};
  const auto to = std::find(arguments.begin(), arguments.end(), "--to");
  if (to != arguments.end() && std::count(kLibraries.begin(), kLibraries.end(), *std::next(to))) {
    arguments.insert(arguments.end(), {"--best", kOneProblem});
  }
}

/// Commands run on the fake GPU, except those that must run without one.
enum class Machine { fake_gpu, no_gpu };

class Documents : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  Documents() {
    for (const char* name : {"tests", "kernels", "configs"}) {
      fs::create_symlink(fs::path(FATUNE_SOURCE_DIR) / name, folder_ / name);
    }
    fs::create_symlink(FATUNE_SOURCE_DIR "/kernels/flash_sm80", folder_ / "my_kernel");
    // Commands do not print to the files that they name after '>'.
    write(
        "chat.jsonl",
        R"({"dtype":"FP16","batch":1,"seq_len":128,"heads":2,"d_head":128,"causal":false,"calls":3})");
    process_.folder = folder_.string();
    process_.environment["FATUNE_FAKE_DEVICES"] = "2";
  }

  /// A command whose space is `tune` or `all`, or that names none, runs on one configuration of
  /// flash_sm80 for each type and head dimension. Other tests compile and emulate the whole spaces.
  ProcessResult run_on(Machine machine, std::vector<std::string> arguments) {
    const auto space = std::find(arguments.begin(), arguments.end(), "--space");
    if (space != arguments.end() && (*std::next(space) == "tune" || *std::next(space) == "all") &&
        arguments.front() != "list") {
      *std::next(space) = kOneSpace;
    }
    if (!is_exhaustive()) {
      take_one_type(arguments);
      take_one_problem(arguments);
    }
    const bool other_family =
        std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
          return argument.starts_with("tests/families") || argument == "my_attention";
        });
    other_family ? void(process_.environment.erase("KERNELS"))
                 : void(process_.environment["KERNELS"] = kOneSpace);
    if (machine == Machine::fake_gpu) {
      use_fake_worker({{"noise_percent", 0.2}});
    }
    const ProcessResult result = fatune(arguments);
    process_.environment["FATUNE_LIBCUDA"] = "/nonexistent/libcuda.so.1";
    return result;
  }

  /// A fresh machine has no nvdisasm, which 'sass' needs. CI installs it (scripts/setup --tools).
  static bool lacks_nvdisasm(const ProcessResult& result) {
    return result.exit_code == static_cast<int>(ExitCode::bad_file) &&
           result.err.starts_with("fatune: nvdisasm") &&
           result.err.find("is not installed") != std::string::npos;
  }

  void expect_ends(const CodeBlock& block, Machine machine, int exit_code) {
    for (const auto& arguments : fatune_commands(block.text)) {
      const ProcessResult result = run_on(machine, arguments);
      if (lacks_nvdisasm(result)) {
        not_seen_ = "commands of 'sass' have got as far as nvdisasm, which is not installed here";
        continue;
      }
      EXPECT_EQ(result.exit_code, exit_code) << testing::PrintToString(arguments) << '\n'
                                             << result.err;
    }
  }

  void expect_no_nsight_compute(const CodeBlock& block) {
    expect_ok(run_on(Machine::fake_gpu, {"run", "--config", kConfig, "--seq", "4096"}));
    for (const auto& arguments : fatune_commands(block.text)) {
      const ProcessResult result = run_on(Machine::fake_gpu, arguments);
      if (result.exit_code != 0) {
        expect_error(result, ExitCode::bad_file, {"is not installed"});
      }
    }
  }

  /// Registers and spills, and so the estimates, depend on the version of the compiler.
  [[nodiscard]] bool has_compiler_of_documents() {
    return fatune({"--version"}).out.find("NVRTC 13.0") != std::string::npos;
  }

  void expect_shown(const std::string& command, const CodeBlock& block) {
    if (!has_compiler_of_documents()) {
      not_seen_ = "all commands work; what they print is compared with NVRTC 13.0 alone";
      return;
    }
    const auto commands = fatune_commands(command);
    ASSERT_EQ(commands.size(), 1U) << command;
    process_.environment.erase("KERNELS");
    const ProcessResult result = fatune(commands[0]);
    EXPECT_TRUE(is_shown(result.out + result.err, block.text))
        << command << " prints\n"
        << result.out << result.err << "and not\n"
        << block.text;
  }

  void try_block(const CodeBlock& block) {
    SCOPED_TRACE(std::string(GetParam()) + ":" + std::to_string(block.line));
    const std::string& note = block.note;
    if (note.starts_with(kShows)) {
      expect_shown(note.substr(kShows.size()), block);
    } else if (note.starts_with(kFile)) {
      write(note.substr(kFile.size()), block.text);
    } else if (note == "needs Nsight Compute") {
      expect_no_nsight_compute(block);
    } else if (note.starts_with(kExitCode)) {
      expect_ends(block, Machine::no_gpu, std::stoi(note.substr(kExitCode.size())));
    } else {
      expect_ends(block, note == "without a GPU" ? Machine::no_gpu : Machine::fake_gpu, 0);
    }
  }

  std::string not_seen_;  ///< why the test has skipped a part; empty: it has skipped none
};

std::string read_document(const std::string& name) {
  std::ifstream file(fs::path(FATUNE_SOURCE_DIR) / name);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(Documents, SayWhatWorksAndShowWhatComesOut) {
  int commands = 0;
  for (const CodeBlock& block : code_blocks(read_document(GetParam()))) {
    commands += static_cast<int>(fatune_commands(block.text + block.note).size());
    try_block(block);
  }
  EXPECT_GT(commands, 0) << "has this document no commands any more? Then take it from the list";
  if (!not_seen_.empty() && !HasFailure()) {
    GTEST_SKIP() << not_seen_;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Documents, testing::ValuesIn(kDocuments));

TEST(DocumentList, HasEveryDocumentWithCommands) {
  for (const char* place : {".", "docs", "kernels", "kernels/flash_sm80"}) {
    for (const auto& file : fs::directory_iterator(fs::path(FATUNE_SOURCE_DIR) / place)) {
      const std::string name = (fs::path(place) / file.path().filename()).lexically_normal();
      if (file.path().extension() != ".md" ||
          std::find(kDocuments.begin(), kDocuments.end(), name) != kDocuments.end()) {
        continue;
      }
      for (const CodeBlock& block : code_blocks(read_document(name))) {
        EXPECT_TRUE(fatune_commands(block.text).empty()) << name << ':' << block.line;
      }
    }
  }
}

}  // namespace
}  // namespace fatune::testing_cli

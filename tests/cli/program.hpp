#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/process.hpp"
#include "golden_file.hpp"

namespace fatune::testing_cli {

[[nodiscard]] inline int code_of(ExitCode code) { return static_cast<int>(code); }

/// Runs fatune in a folder of its own, with an environment that contains nothing of the tester's:
/// no GPU, no KERNELS and no fatune.toml, but the tests' shared cache and the sanitizers' options.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;
  ProgramTest(const ProgramTest&) = delete;
  ProgramTest& operator=(const ProgramTest&) = delete;
  ProgramTest(ProgramTest&&) = delete;
  ProgramTest& operator=(ProgramTest&&) = delete;

  ProcessResult fatune(const std::vector<std::string>& arguments);
  /// Runs fatune, and parses its standard output as JSON. The test fails unless it ends with
  /// `expected`.
  nlohmann::json fatune_json(const std::vector<std::string>& arguments,
                             ExitCode expected = ExitCode::ok);

  /// Uses tests/fake_cuda: kernels run on the emulator, so that verification is real, and take 100
  /// us of its clock. Suited to problems of one head and about a hundred rows: the emulator is
  /// slow.
  void use_fake_gpu();
  /// Uses tests/fake_cuda, but kernels never run, and every check reports no findings. For tests of
  /// requests, schedules, storage and output, which say nothing about verification.
  void use_gpu_that_never_runs_kernels();
  /// Uses tests/fake_worker for samples, with this script. The driver is use_fake_gpu()'s.
  void use_fake_worker(const nlohmann::json& script);
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] std::string path(const std::string& name) const;
  /// Copies the toy family, with a kernel that begins with `statement`. Returns the folder.
  [[nodiscard]] std::string toy_family_with(const std::string& statement) const;

  ProcessOptions process_;
  const std::filesystem::path folder_;
};

/// Checks that the program ended with this code, and that standard error contains all of `parts`
/// and no internal error.
void expect_error(const ProcessResult& result, ExitCode code,
                  const std::vector<std::string>& parts);
void expect_ok(const ProcessResult& result);

using testing_golden::expect_golden;
/// Checks the text against configs/schema/<schema>.schema.json.
void expect_schema(const std::string& text, const char* schema);

/// The run of a best_configs.json as if it were of another GPU model, where its second is the
/// winner.
[[nodiscard]] nlohmann::json on_another_model(nlohmann::json best);
/// The document of several runs.
[[nodiscard]] nlohmann::json document_of(const std::vector<nlohmann::json>& runs);

inline const std::string kConfig =
    "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
/// A space for tests that are not about kernels: it is compiled and emulated quickly.
inline const std::string kFewSpace = FATUNE_SOURCE_DIR "/tests/spaces/few.json";
inline const std::string kToyFolder = FATUNE_SOURCE_DIR "/tests/families/toy_attention";

}  // namespace fatune::testing_cli

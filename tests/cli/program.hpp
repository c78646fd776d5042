#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "core/exit_code.hpp"
#include "golden_file.hpp"

namespace fatune::testing_cli {

/// Runs fatune in a folder of its own, in an environment that holds nothing of the tester's: no
/// GPU, no KERNELS, no fatune.toml, the tests' shared cache; but the sanitizers' options.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;
  ProgramTest(const ProgramTest&) = delete;
  ProgramTest& operator=(const ProgramTest&) = delete;
  ProgramTest(ProgramTest&&) = delete;
  ProgramTest& operator=(ProgramTest&&) = delete;

  ProcessResult fatune(const std::vector<std::string>& arguments);
  /// Runs fatune, and parses its standard output as JSON; the test fails unless it ends with
  /// `expected`.
  nlohmann::json fatune_json(const std::vector<std::string>& arguments,
                             ExitCode expected = ExitCode::ok);

  /// tests/fake_cuda: kernels run on the emulator, so that verification is real, and take 100 us of
  /// its clock. For problems of one head and a hundred rows or so: the emulator is slow.
  void use_fake_gpu();
  /// The same, but kernels never run, and every check says that it found nothing: for tests of what
  /// is asked for, scheduled, stored and printed, which say nothing about verification.
  void use_gpu_that_never_runs_kernels();
  /// Samples come from tests/fake_worker, by this script; the driver is use_fake_gpu()'s.
  void use_fake_worker(const nlohmann::json& script);
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] std::string path(const std::string& name) const;
  /// A copy of the toy family whose kernel begins with `statement`: its folder.
  [[nodiscard]] std::string toy_family_with(const std::string& statement) const;

  ProcessOptions process_;
  const std::filesystem::path folder_;
};

/// That the program ended so, and said all of `parts` on standard error (and nothing of an
/// internal error).
void expect_error(const ProcessResult& result, ExitCode code,
                  const std::vector<std::string>& parts);
void expect_ok(const ProcessResult& result);

using testing_golden::expect_golden;
/// Checks against configs/schema/<schema>.schema.json.
void expect_schema(const std::string& text, const char* schema);

inline const std::string kConfig =
    "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
/// A space for tests of what happens around kernels: compiled and emulated soon.
inline const std::string kFewSpace = FATUNE_SOURCE_DIR "/tests/spaces/few.json";
inline const std::string kToyFolder = FATUNE_SOURCE_DIR "/tests/families/toy_attention";

}  // namespace fatune::testing_cli

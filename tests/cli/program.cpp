#include "cli/program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"

namespace fatune::testing_cli {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return fs::path(testing::TempDir()) /
         ("fatune_" + std::to_string(::getpid()) + "_" + test->name());
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

ProgramTest::ProgramTest() : folder_(own_folder()) {
  fs::create_directories(folder_);
  process_.environment = {{"XDG_CACHE_HOME", FATUNE_TEST_CACHE},
                          {"HOME", folder_.string()},
                          {"TMPDIR", folder_.string()},
                          {"PATH", "/usr/bin:/bin"},
                          {"FATUNE_LOCK_DIR", folder_.string()},
                          {"FATUNE_NVRTC", FATUNE_FAKE_NVRTC},
                          {"FATUNE_LIBCUDA", "/nonexistent/libcuda.so.1"},
                          {"FATUNE_CONFIG_FILE", "none"}};
  for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* options = std::getenv(name)) {
      process_.environment[name] = options;
    }
  }
}

ProgramTest::~ProgramTest() { fs::remove_all(folder_); }

ProcessResult ProgramTest::fatune(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{FATUNE_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, process_);
}

nlohmann::json ProgramTest::fatune_json(const std::vector<std::string>& arguments,
                                        ExitCode expected) {
  const ProcessResult result = fatune(arguments);
  EXPECT_EQ(result.exit_code, static_cast<int>(expected)) << result.err;
  auto json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out << result.err;
  return json;
}

void ProgramTest::use_fake_gpu() {
  process_.environment["FATUNE_LIBCUDA"] = FATUNE_FAKE_CUDA;
  process_.environment["FATUNE_WATCHDOG_S"] = "600";  // busy cores slow the emulator down
}

void ProgramTest::use_gpu_that_never_runs_kernels() {
  use_fake_gpu();
  process_.environment["FATUNE_FAKE_KERNELS"] = "never_run";
}

void ProgramTest::use_fake_worker(const nlohmann::json& script) {
  use_fake_gpu();
  process_.environment.erase("FATUNE_WATCHDOG_S");
  process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
}

void ProgramTest::write(const std::string& name, std::string_view text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string ProgramTest::read(const std::string& name) const { return read_file(folder_ / name); }

std::string ProgramTest::toy_family_with(const std::string& statement) const {
  const std::filesystem::path folder = folder_ / "toy_attention";
  std::filesystem::copy(kToyFolder, folder, std::filesystem::copy_options::recursive);
  std::string source = read("toy_attention/toy_attention.cu");
  source.insert(source.find("const int lane = threadIdx.x % 32;"), statement + " ");
  write("toy_attention/toy_attention.cu", source);
  return folder.string();
}

std::string ProgramTest::path(const std::string& name) const { return (folder_ / name).string(); }

void expect_error(const ProcessResult& result, ExitCode code,
                  const std::vector<std::string>& parts) {
  EXPECT_EQ(result.exit_code, static_cast<int>(code)) << result.out << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("fatune: "));
  EXPECT_THAT(result.err, testing::Not(testing::HasSubstr("internal error")));
  for (const std::string& part : parts) {
    EXPECT_THAT(result.err, testing::HasSubstr(part));
  }
}

void expect_ok(const ProcessResult& result) { EXPECT_EQ(result.exit_code, 0) << result.err; }

void expect_schema(const std::string& text, const char* schema) {
  EXPECT_NO_THROW(check_schema(parse_json(text, schema), FileTree(), schema, schema));
}

nlohmann::json on_another_model(nlohmann::json best) {
  best["device"]["name"] = "NVIDIA Elsewhere";
  best["problems"][0]["ranking"].erase(0);
  return best;
}

nlohmann::json document_of(const std::vector<nlohmann::json>& runs) {
  return {{"format", "fatune.runs"}, {"format_version", 2}, {"runs", runs}};
}

}  // namespace fatune::testing_cli

// Tests that the library that `fatune export --to cpp` writes can be built as its README says, and
// chooses kernels. tests/scripts/torch_package_test.py builds the package of `--to torch` if
// PyTorch is installed.
#include <chrono>
#include <filesystem>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// The first problem that fatune ships winners of.
const std::string kOneProblem = FATUNE_SOURCE_DIR "/tests/tuned/one_problem.json";

class LibraryExport : public ProgramTest {
 protected:
  /// Configures the folder and builds it in its subfolder build.
  void build(const std::string& folder, const std::vector<std::string>& options = {}) {
    std::vector<std::string> configure{FATUNE_CMAKE,
                                       "-GNinja",
                                       "-DCMAKE_MAKE_PROGRAM=" FATUNE_NINJA,
                                       "-DCMAKE_CXX_COMPILER=" FATUNE_CXX_COMPILER,
                                       "-S" + folder,
                                       "-B" + folder + "/build"};
    configure.insert(configure.end(), options.begin(), options.end());
    expect_ok(tool(configure));
    expect_ok(tool({FATUNE_CMAKE, "--build", folder + "/build"}));
  }

  ProcessResult tool(const std::vector<std::string>& command) {
    return run_process(command, process_);
  }

  /// Exports what one configuration gave on the fake GPU for the problem, and builds it in the
  /// folder library.
  void export_run(const std::string& config, const std::vector<std::string>& problem,
                  const std::vector<std::string>& features) {
    use_fake_gpu();
    std::vector<std::string> run{
        "run",      "--config", config,    "--best", path("best.json"), "-q", "--repeats",  "2",
        "--warmup", "0",        "--batch", "2",      "--heads",         "2",  "--kv-heads", "1"};
    run.insert(run.end(), problem.begin(), problem.end());
    expect_ok(fatune(run));
    std::vector<std::string> exporting{"export", "--best", path("best.json"), "--to",
                                       "cpp",    "--out",  path("library")};
    exporting.insert(exporting.end(), features.begin(), features.end());
    expect_ok(fatune(exporting));
    build(path("library"));
  }

  /// Runs a library's `verify --tiny` on the fake GPU, whose kernels compute the right results.
  ProcessResult verify(const std::string& folder) {
    std::filesystem::create_symlink(FATUNE_FAKE_CUDA, path("libcuda.so.1"));
    ProcessOptions with_gpu = process_;
    with_gpu.environment["LD_LIBRARY_PATH"] = path(".");
    with_gpu.environment["FATUNE_FAKE_NAME"] = "NVIDIA H200";
    return run_process({path(folder + "/build/verify"), "--tiny"}, with_gpu);
  }
};

TEST_F(LibraryExport, IsBuiltAndSelectsTheSameAgain) {
  expect_ok(fatune({"export", "--best", kOneProblem, "--to", "cpp", "--out", path("attention")}));
  expect_schema(read("attention/table.json"), "export");
  EXPECT_THAT(read("attention/table.md"), HasSubstr("| b16 s512 h16 d64 FP16"));
  build(path("attention"));
  const ProcessResult selected = tool({path("attention/build/verify"), "--select", "10000"});
  expect_ok(selected);
  EXPECT_EQ(tool({path("attention/build/verify"), "--select", "10000"}).out, selected.out);
  EXPECT_THAT(selected.out, HasSubstr("step=exact"));
  const ProcessResult verified = verify("attention");
  expect_ok(verified);
  EXPECT_THAT(verified.out, HasSubstr("10 right, 0 wrong, 10 refused"));
  // The package is found, and a program linked to it runs.
  expect_ok(
      tool({FATUNE_CMAKE, "--install", path("attention/build"), "--prefix", path("installed")}));
  write("user/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(user CXX)\n"
        "find_package(fatune_attention REQUIRED)\nadd_executable(user user.cpp)\n"
        "target_link_libraries(user PRIVATE fatune_attention::fatune_attention)\n");
  write("user/user.cpp",
        "#include <fatune_attention/attention.hpp>\n"
        "int main() { return fatune_attention::contents().rows == 1 ? 0 : 1; }\n");
  build(path("user"), {"-DCMAKE_PREFIX_PATH=" + path("installed")});
  expect_ok(tool({path("user/build/user")}));
}

TEST_F(LibraryExport, Decodes) {
  export_run("(FP16, 64, 8, 64, 2, 1): parts_256", {"--seq", "1", "--seq-kv", "300"},
             {"--page-size", "16"});
  const ProcessResult verified = verify("library");
  expect_ok(verified);
  EXPECT_THAT(verified.out, ContainsRegex("b4 s1 [^\n]* lens [^\n]* right "));
  EXPECT_THAT(verified.out, ContainsRegex("b4 s5 [^\n]* causal lens lse [^\n]* right "));
  EXPECT_THAT(verified.out, ContainsRegex("b4 s3 [^\n]* causal lens pages16 lse [^\n]* right "));
  EXPECT_THAT(verified.out, HasSubstr(" 0 wrong"));
}

/// Where rows have scales of keys, pages may have scales, too.
TEST_F(LibraryExport, DecodesKAndVOfEightBits) {
  export_run("(FP16, 64, 8, 64, 2, 1): parts_256",
             {"--seq", "1", "--seq-kv", "300", "--kv-dtype", "e4m3", "--kv-scales", "token"},
             {"--page-size", "16"});
  const ProcessResult verified = verify("library");
  expect_ok(verified);
  EXPECT_THAT(verified.out, ContainsRegex("b1 s1 [^\n]* e4m3/token [^\n]* right "));
  EXPECT_THAT(verified.out, ContainsRegex("b4 s5 [^\n]* e4m3/token [^\n]* padded [^\n]* right "));
  EXPECT_THAT(verified.out, ContainsRegex("e4m3/token causal lens pages16 lse [^\n]* right "));
  EXPECT_THAT(verified.out, ContainsRegex("e4m3/page causal lens pages16 lse [^\n]* right "));
  EXPECT_THAT(verified.out, HasSubstr(" 0 wrong, 0 refused"));
}

/// Rows with one scale for all serve scales of heads, and nothing else.
TEST_F(LibraryExport, AnswersForTheTypesOfKAndVThatItsTableHas) {
  export_run("(BF16, 128, 8, 64, 2, 1): parts_256",
             {"--seq", "1", "--seq-kv", "100", "--kv-dtype", "e5m2"}, {});
  write("user/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.18)\nproject(user CXX)\n"
        "add_subdirectory(../library library)\nadd_executable(user user.cpp)\n"
        "target_link_libraries(user PRIVATE fatune_attention)\n");
  write("user/user.cpp", R"(#include <cstdio>
#include <cstring>
#include <fatune_attention/attention.hpp>
using namespace fatune_attention;
void print(KvDType kv_dtype, KvScales kv_scales) {
  Problem p{DType::bf16, 2, 2, 1, 1, 100, 128, 128};
  p.kv_dtype = kv_dtype;
  p.kv_scales = kv_scales;
  Device device;
  std::strcpy(device.name, "NVIDIA H200");
  device.arch = 90;
  device.sm_count = 132;
  device.max_threads_per_block = 1024;
  device.max_threads_per_sm = 2048;
  device.registers_per_sm = 65536;
  device.smem_per_block_optin_bytes = 232448;
  device.smem_per_sm_bytes = 233472;
  const Selection s = select(p, device);
  std::printf("%d %d: %s%s\n", int(kv_dtype), int(kv_scales), s.config, s.reason);
}
int main() {
  print(KvDType::e5m2, KvScales::tensor);
  print(KvDType::e5m2, KvScales::head);
  print(KvDType::e5m2, KvScales::token);
  print(KvDType::e4m3, KvScales::tensor);
  print(KvDType::of_q, KvScales::tensor);
}
)");
  build(path("user"));
  EXPECT_EQ(tool({path("user/build/user")}).out,
            "23 0: (BF16, 128, 8, 64, 2, 1): parts_256\n"
            "23 1: (BF16, 128, 8, 64, 2, 1): parts_256\n"
            "23 2: no tuned problem has K and V of this 8-bit type with such scales\n"
            "24 0: no tuned problem has K and V of this 8-bit type with such scales\n"
            "0 0: no tuned problem has K and V of 16 bits\n");
}

TEST_F(LibraryExport, ComputesPackedBatchesAndPages) {
  const std::string config = "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1";
  export_run(config, {"--seq", "96", "--causal"}, {"--packed", "--page-size", "16"});
  const ProcessResult verified = verify("library");
  expect_ok(verified);
  for (const char* form : {"causal packed lse", "causal pages16", "causal packed pages16 lse"}) {
    EXPECT_THAT(verified.out, ContainsRegex(std::string(form) + " [^\n]* right ")) << form;
  }
  EXPECT_THAT(verified.out, HasSubstr(" 0 wrong"));
}

TEST_F(LibraryExport, HasNoPackedBatchesInPagesThatItWasNotBuiltFor) {
  const std::string config = "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1";
  export_run(config, {"--seq", "96", "--causal"}, {"--page-size", "16"});
  const ProcessResult verified = verify("library");
  expect_ok(verified);
  EXPECT_THAT(verified.out, HasSubstr("causal pages16 "));
  EXPECT_THAT(verified.out, Not(HasSubstr("packed")));
}

TEST_F(LibraryExport, IsPartOfThePyTorchPackage) {
  expect_ok(fatune({"export", "--best", kOneProblem, "--to", "cpp", "--out", path("cpp")}));
  expect_ok(fatune({"export", "--best", kOneProblem, "--to", "torch", "--out", path("torch")}));
  for (const char* file : {"CMakeLists.txt", "table.json", "src/attention.cpp", "src/cubins.S",
                           "src/kernels.cpp", "include/fatune_attention/attention.hpp"}) {
    EXPECT_EQ(read(std::string("torch/library/") + file), read(std::string("cpp/") + file)) << file;
  }
  for (const char* file : {"README.md", "setup.py", "fatune_attention/__init__.py",
                           "csrc/operators.cpp", "tests/check_on_gpu.py"}) {
    EXPECT_EQ(read(std::string("torch/") + file),
              read(FATUNE_SOURCE_DIR "/src/runtime/torch/" + std::string(file)))
        << file;
  }
}

TEST_F(LibraryExport, OneThatDidNotEndIsRepeated) {
  for (const char* format : {"cpp", "torch"}) {
    const std::vector<std::string> again{"export", "--best", kOneProblem, "--to",
                                         format,   "--out",  path(format)};
    expect_ok(fatune(again));
    const std::string table = std::string(format) == "cpp" ? "cpp/" : "torch/library/";
    const std::string kernels = read(table + "src/kernels.cpp");
    std::filesystem::remove(path(table + "table.json"));
    std::filesystem::remove(path(table + "src/kernels.cpp"));
    expect_ok(fatune(again));
    EXPECT_EQ(read(table + "src/kernels.cpp"), kernels);
  }
}

TEST_F(LibraryExport, NothingTemporaryOfAKilledExportStays) {
  const std::vector<std::string> again{"export", "--best", kOneProblem, "--to",
                                       "cpp",    "--out",  path("cpp")};
  expect_ok(fatune(again));
  const std::string temporary = path("cpp/src/.fatune-0123456789abcdef.tmp");
  write("cpp/src/.fatune-0123456789abcdef.tmp", "half a kernel");
  std::filesystem::last_write_time(
      temporary, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  expect_ok(fatune(again));
  EXPECT_FALSE(std::filesystem::exists(temporary));
}

TEST_F(LibraryExport, NeedsAFolderThatCanBeWritten) {
  expect_error(fatune({"export", "--to", "cpp"}), ExitCode::usage, {"--out DIR"});
  write("others/README.md", "of something else");
  expect_error(fatune({"export", "--to", "cpp", "--out", path("others")}), ExitCode::usage,
               {"not empty", "others"});
  EXPECT_EQ(read("others/README.md"), "of something else");
  write("file", "");
  expect_error(fatune({"export", "--to", "cpp", "--out", path("file")}), ExitCode::io, {"file"});
  expect_error(fatune({"export", "--to", "rust"}), ExitCode::usage, {"rust", "cpp"});
}

}  // namespace
}  // namespace fatune::testing_cli

// A stranger's kernel folder: what it says is compiled, and does nothing else.
#include <filesystem>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HostileFamily : public ProgramTest {
 protected:
  HostileFamily() : dir_(toy_family_with("")), source_(read("toy_attention/toy_attention.cu")) {}

  /// Puts this at the beginning of the source, or at its end.
  void begin_source_with(const std::string& text) const {
    write("toy_attention/toy_attention.cu", text + source_);
  }
  void end_source_with(const std::string& text) const {
    write("toy_attention/toy_attention.cu", source_ + text);
  }

  void set_option(const std::string& option) const {
    json family = json::parse(read("toy_attention/family.json"));
    family["options"] = {"--std=c++17", "-default-device", option};
    write("toy_attention/family.json", family.dump());
  }

  [[nodiscard]] std::vector<std::string> compile_command(
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command{"compile",
                                     "--kernel-dir",
                                     dir_,
                                     "--cache-dir",
                                     path("cache"),
                                     "--config",
                                     "(FP16, 128, 32): unroll_1"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  json compile_one(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = compile_command(more);
    command.insert(command.end(), {"--format", "json"});
    return json::parse(fatune(command).out).at("configs").at(0);
  }

  const std::string dir_;
  const std::string source_;
};

TEST_F(HostileFamily, OptionsThatWriteFilesAreRefused) {
  write("profile", "precious");
  for (const char* option : {"--time=", "--create-pch=", "--fdevice-time-trace="}) {
    set_option(option + path("profile"));
    expect_error(fatune(compile_command()), ExitCode::bad_file,
                 {option + path("profile"), "family.json: /options/2", "--allow-option="});
  }
  EXPECT_EQ(read("profile"), "precious");
}

TEST_F(HostileFamily, TheUserAllowsOptionsAndNoFileDoes) {
  set_option("--version-ident=maybe");  // NVRTC refuses it by itself
  const std::vector<std::string> allow{"--allow-option=--version-ident=maybe"};
  EXPECT_THAT(compile_one(allow)["log"].get<std::string>(), HasSubstr("version-ident"));
  write("fatune.toml", "allow-option = [\"--version-ident=maybe\"]\n");
  process_.environment["FATUNE_CONFIG_FILE"] = path("fatune.toml");
  expect_error(fatune(compile_command()), ExitCode::bad_file,
               {"fatune.toml:1", "no command has an option 'allow-option'"});
}

// Whatever an option does, the compiler can write to no file and open none.
TEST_F(HostileFamily, AnAllowedOptionWritesNoFileAllTheSame) {
  for (const char* option : {"--time=", "--create-pch=", "--fdevice-time-trace="}) {
    set_option(option + path("written"));
    const json row = compile_one({"--allow-option=" + (option + path("written"))});
    EXPECT_THAT(row["status"], testing::StartsWith("compile")) << row.dump(2);
    EXPECT_NE(row["status"], "compiled");
  }
  for (const auto& file : fs::directory_iterator(folder_)) {
    EXPECT_THAT(file.path().filename().string(), Not(HasSubstr("written")));
  }
}

TEST_F(HostileFamily, FilesElsewhereAreNotReadNorQuoted) {
  write("secret", "the_secret_key\n");
  for (const std::string& name : {path("secret"), std::string("../secret")}) {
    for (const char* form :
         {"#include \"{}\"\n", "#include /* x */ <{}>\n", "#define H \"{}\"\n#include H\n",
          "#include \\\n\"{}\"\n", "%:include \"{}\"\n"}) {
      std::string line = form;
      begin_source_with(line.replace(line.find("{}"), 2, name));
      process_.folder = dir_;
      const json row = compile_one();
      EXPECT_EQ(row["status"], "compile_failed");
      EXPECT_THAT(row["log"].get<std::string>(),
                  AllOf(Not(HasSubstr("the_secret_key")), HasSubstr("headers lie in"),
                        Not(HasSubstr("Too many open files"))));
    }
  }
}

TEST_F(HostileFamily, ALinkToAFileElsewhereIsAnError) {
  write("secret", "the_secret_key\n");
  fs::create_symlink(path("secret"), path("toy_attention/notes.cuh"));
  expect_error(fatune(compile_command()), ExitCode::bad_file,
               {"notes.cuh", "leads out of the folder", "--include"});
  fs::remove(path("toy_attention/notes.cuh"));
  fs::rename(path("toy_attention/family.json"), path("family.json"));
  fs::create_symlink("../family.json", path("toy_attention/family.json"));
  expect_error(fatune(compile_command()), ExitCode::bad_file,
               {"family.json", "leads out of the folder"});
  EXPECT_EQ(compile_one({"--include", folder_.string()})["status"], "compiled");
}

// The name of a header that counts may be anywhere; the machine code is never that of an old
// header.
TEST_F(HostileFamily, AChangedHeaderIsCompiledAgainHoweverItIsIncluded) {
  fs::create_directory(path("headers"));
  for (const char* line :
       {"#include \"h.h\"", "#include /* x */ <h.h>", "#/**/include \"h.h\"", "%:include <h.h>",
        "#include \\\n<h.h>", "#define H <h.h>\n#include H", "#define H \"h.h\"\n#include H",
        "#if __has_include(<h.h>)\n#include <h.h>\n#endif", "/*\n*/ #include <h.h>",
        "#include /*\n*/ <h.h>", "#inc\\\nlude <h.h>"}) {
    begin_source_with(std::string(line) + "\n__device__ int n() { return NUMBER; }\n");
    for (const char* place : {"headers/h.h", "toy_attention/h.h"}) {
      write(place, "#define NUMBER 1\n");
      const json first = compile_one({"--include", path("headers")});
      ASSERT_EQ(first["status"], "compiled") << line << first.dump(2);
      EXPECT_EQ(compile_one({"--include", path("headers")})["from_cache"], true) << line;
      write(place, "#define NUMBER 2\n");
      const json second = compile_one({"--include", path("headers")});
      EXPECT_EQ(second["from_cache"], false) << line;
      EXPECT_NE(second["artifact_key"], first["artifact_key"]) << line;
      fs::remove(path(place));
      fs::remove_all(path("cache"));
    }
  }
}

std::string nested(int depth) {
  std::string text = "\n#if FATUNE_UNROLL == 2\n__device__ int f(int z) { return ";
  for (int i = 0; i < depth; ++i) {
    text += "z ? 1 : ";
  }
  return text + "0; }\n#endif\n";
}

std::string nested_parentheses(int depth) {
  return "\n#if FATUNE_UNROLL == 2\n__device__ int g(int z) { return " +
         std::string(static_cast<std::size_t>(depth), '(') + "z" +
         std::string(static_cast<std::size_t>(depth), ')') + "; }\n#endif\n";
}

TEST_F(HostileFamily, DeepNestingCompiles) {
  end_source_with(nested(4000) + nested_parentheses(4000));
  const std::vector<std::string> second{"--config", "(FP16, 128, 32): unroll_2", "--format",
                                        "json"};
  const json report = fatune_json(compile_command(second));
  ASSERT_EQ(report["configs"].size(), 2U);
  for (const json& row : report["configs"]) {
    EXPECT_EQ(row["status"], "compiled") << row["log"];
  }
}

TEST_F(HostileFamily, ACompilerWithoutStackCostsItsConfigurationsAlone) {
  end_source_with(nested(400000));
  const ProcessResult result =
      fatune({"sweep", "--kernel-dir", dir_, "--seq", "128", "--batch", "1", "--heads", "1",
              "--device", "none", "--dtype", "fp16", "--no-emulate", "--no-cache", "--out",
              path("out"), "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "results");
  const json problem = json::parse(result.out)["problems"][0];
  EXPECT_GE(problem["ranking"].size(), 2U);
  EXPECT_GE(problem["failures"].size(), 1U);
  for (const json& failure : problem["failures"]) {
    EXPECT_EQ(failure["outcome"], "compiler_crashed");
    EXPECT_EQ(failure["detail"],
              "signal 11 (Segmentation fault): it needs more than 128 MiB of stack");
    EXPECT_THAT(failure["log"].get<std::string>(), HasSubstr("the compiler crashed: signal 11"));
  }
  EXPECT_EQ(read("out/results.json"), result.out);
  const std::vector<std::string> second{"--config", "(FP16, 128, 32): unroll_2", "--strict"};
  const ProcessResult compiled = fatune(compile_command(second));
  EXPECT_EQ(compiled.exit_code, static_cast<int>(ExitCode::failed_outcomes));
  EXPECT_THAT(compiled.out, AllOf(HasSubstr("compiler_crashed"), HasSubstr("unroll_1")));
}

}  // namespace
}  // namespace fatune::testing_cli

#include "base/cuda_installation.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

/// A folder for fake tools. The environment variables are cleared, and restored afterwards.
class FindTool : public testing::Test {
 protected:
  FindTool() {
    std::string pattern = (fs::temp_directory_path() / "fatune-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "HOME"}) {
      const char* value = std::getenv(name);
      saved_.emplace_back(name, value == nullptr ? "" : value);
      ::setenv(name, "", 1);
    }
  }
  ~FindTool() override {
    for (const auto& [name, value] : saved_) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::unsetenv("FATUNE_MADE_UP");
    fs::remove_all(folder_);
  }
  FindTool(const FindTool&) = delete;
  FindTool& operator=(const FindTool&) = delete;
  FindTool(FindTool&&) = delete;
  FindTool& operator=(FindTool&&) = delete;

  fs::path make(const std::string& name, bool executable = true) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, executable ? fs::perms::owner_all : fs::perms::owner_read);
    return path;
  }
  static std::optional<fs::path> found() { return find_tool("made-up"); }

  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> saved_;
};

TEST_F(FindTool, NowhereIsNothing) { EXPECT_EQ(found(), std::nullopt); }

TEST_F(FindTool, TheVariableComesFirstThenThePathThenTheToolkits) {
  const fs::path in_toolkit = make("toolkit/bin/made-up");
  ::setenv("CUDA_HOME", (folder_ / "toolkit").c_str(), 1);
  EXPECT_EQ(found(), in_toolkit);
  const fs::path in_path = make("path/made-up");
  ::setenv("PATH", ("/nonexistent::" + (folder_ / "path").string()).c_str(), 1);
  EXPECT_EQ(found(), in_path);
  const fs::path chosen = make("other-name");
  ::setenv("FATUNE_MADE_UP", chosen.c_str(), 1);
  EXPECT_EQ(found(), chosen);
}

TEST_F(FindTool, NvidiasPythonPackagesAreLookedThrough) {
  const fs::path newer = make("env/lib/python3.12/site-packages/nvidia/cu13/bin/made-up");
  ::setenv("VIRTUAL_ENV", (folder_ / "env").c_str(), 1);
  EXPECT_EQ(found(), newer);
  ::setenv("VIRTUAL_ENV", "", 1);
  const fs::path own = make(".local/lib/python3.11/dist-packages/nvidia/cuda_nvcc/bin/made-up");
  ::setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(found(), own);
}

TEST_F(FindTool, WhatIsNotExecutableDoesNotCount) {
  (void)make("path/made-up", false);
  fs::create_directories(folder_ / "folder" / "made-up");
  ::setenv("PATH", ((folder_ / "path").string() + ":" + (folder_ / "folder").string()).c_str(), 1);
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(FindTool, AChoiceThatCannotBeRunIsAnErrorThatNamesIt) {
  const fs::path chosen = make("plain", false);
  ::setenv("FATUNE_MADE_UP", chosen.c_str(), 1);
  try {
    (void)found();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_file);
    EXPECT_EQ(error.where(), chosen.string());
  }
}

}  // namespace
}  // namespace fatune

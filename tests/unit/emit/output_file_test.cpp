#include "emit/output_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("output_file_" + std::to_string(::getpid()));
};

TEST_F(OutputFile, ReplacesTheWholeFileAndLeavesNothingBeside) {
  write_output_file(folder_ / "r.json", "a long first version");
  write_output_file(folder_ / "r.json", "short");
  EXPECT_EQ(read(folder_ / "r.json"), "short");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, MakesItsFolders) {
  write_output_file(folder_ / "a" / "b" / "r.csv", "x");
  EXPECT_EQ(read(folder_ / "a" / "b" / "r.csv"), "x");
}

TEST_F(OutputFile, AFileInPlaceOfTheFolderIsAnErrorThatNamesThePath) {
  write_output_file(folder_ / "plain", "x");
  try {
    write_output_file(folder_ / "plain" / "r.csv", "x");
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::io);
    EXPECT_EQ(error.where(), (folder_ / "plain" / "r.csv").string());
  }
}

TEST_F(OutputFile, AFolderInPlaceOfTheFileIsFoundBeforehand) {
  fs::create_directories(folder_ / "r.json" / "x");
  EXPECT_THROW(check_output_file(folder_ / "r.json"), Error);
  EXPECT_THROW(write_output_file(folder_ / "r.json", "x"), Error);
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, CheckingLeavesTheFileAsItIs) {
  write_output_file(folder_ / "r.json", "kept");
  check_output_file(folder_ / "r.json");
  EXPECT_EQ(read(folder_ / "r.json"), "kept");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace fatune

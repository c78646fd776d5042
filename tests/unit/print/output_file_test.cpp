#include "print/files.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/error.hpp"

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

TEST_F(OutputFile, CheckingRemovesWhatAKilledProcessLeft) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {".fatune-0123456789abcdef.tmp", "r.json.tmp"}) {
    std::ofstream(folder_ / name) << "half a file";
    fs::last_write_time(folder_ / name, old);
  }
  std::ofstream(folder_ / ".fatune-1123456789abcdef.tmp") << "being written now";
  check_output_file(folder_ / "r.json");
  EXPECT_FALSE(fs::exists(folder_ / ".fatune-0123456789abcdef.tmp"));
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFile, AnExistingFileKeepsItsMode) {
  const fs::path file = folder_ / "r.json";
  write_output_file(file, "first");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  write_output_file(file, "second");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read(file), "second");
}

TEST_F(OutputFile, ANewFileHasTheModeThatTheMaskLeaves) {
  const mode_t before = ::umask(027);
  write_output_file(folder_ / "r.json", "x");
  ::umask(before);
  EXPECT_EQ(fs::status(folder_ / "r.json").permissions(), static_cast<fs::perms>(0640));
}

TEST_F(OutputFile, LinksAreFollowed) {
  write_output_file(folder_ / "real" / "r.json", "first");
  fs::create_symlink("real/r.json", folder_ / "near");
  fs::create_symlink(folder_ / "near", folder_ / "far");
  check_output_file(folder_ / "far");
  write_output_file(folder_ / "far", "second");
  EXPECT_TRUE(fs::is_symlink(folder_ / "near"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "far"));
  EXPECT_EQ(read(folder_ / "real" / "r.json"), "second");
}

TEST_F(OutputFile, ALinkToNothingYetMakesWhatItLeadsTo) {
  fs::create_symlink("new/r.json", folder_ / "link");
  write_output_file(folder_ / "link", "x");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "new" / "r.json"), "x");
}

TEST_F(OutputFile, ACircleOfLinksIsAnError) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_THROW(check_output_file(folder_ / "a"), Error);
  EXPECT_THROW(write_output_file(folder_ / "a", "x"), Error);
}

TEST_F(OutputFile, AFifoIsWrittenForItsReader) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  check_output_file(fifo);  // does not wait for a reader
  EXPECT_FALSE(can_be_rewritten(fifo));
  std::string seen;
  std::thread reader([&] { seen = read(fifo); });
  write_output_file(fifo, "to the reader");
  reader.join();
  EXPECT_EQ(seen, "to the reader");
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, ADeviceIsWrittenAndStays) {
  fs::create_symlink("/dev/full", folder_ / "full");
  check_output_file(folder_ / "full");
  EXPECT_THROW(write_output_file(folder_ / "full", "x"), Error);
  fs::create_symlink("/dev/null", folder_ / "null");
  write_output_file(folder_ / "null", "x");
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  EXPECT_TRUE(fs::is_character_file(folder_ / "null"));
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFile, AnOpenDescriptorGoesOnWhereItIs) {
  const fs::path file = folder_ / "log";
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(descriptor, "before ", 7), 7);
  const fs::path name = "/dev/fd/" + std::to_string(descriptor);
  EXPECT_FALSE(can_be_rewritten(name));
  check_output_file(name);
  write_output_file(name, "after");
  ::close(descriptor);
  EXPECT_EQ(read(file), "before after");
  EXPECT_THROW(check_output_file(name), Error);
}

}  // namespace
}  // namespace fatune

#include "gpu/cubin_cache.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.hpp"
#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace fs = std::filesystem;
namespace {

using testing::HasSubstr;

std::string key_of(int number) { return fmt::format("{:064x}", number); }

Artifact artifact_of(int number, std::size_t cubin_bytes = 100) {
  Artifact artifact;
  artifact.key = key_of(number);
  artifact.lowered_name = fmt::format("k{}", number);
  artifact.cubin.assign(cubin_bytes, static_cast<char>(number));
  return artifact;
}

class CubinCacheTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path entry(int number) const {
    return folder_.path() / (key_of(number) + ".artifact");
  }
  [[nodiscard]] fs::path path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(CubinCacheTest, FindsWhatWasStored) {
  CubinCache cache({path()});
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_FALSE(cache.contains(key_of(1)));
  cache.store(artifact_of(1));
  EXPECT_TRUE(cache.contains(key_of(1)));
  const auto found = cache.find(key_of(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, artifact_of(1).cubin);
  EXPECT_TRUE(found->from_cache);
}

TEST_F(CubinCacheTest, IsSharedByProcessesThroughTheFolder) {
  CubinCache({path()}).store(artifact_of(1));
  EXPECT_TRUE(CubinCache({path()}).find(key_of(1)));
}

TEST_F(CubinCacheTest, CreatesItsFolder) {
  CubinCache cache({path() / "a" / "b"});
  EXPECT_EQ(cache.why_unwritable(), "");
  cache.store(artifact_of(1));
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST_F(CubinCacheTest, CreatesAFolderInTheWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(path());
  EXPECT_EQ(CubinCache({"cache"}).why_unwritable(), "");
  CubinCache({"cache"}).store(artifact_of(1));
  EXPECT_TRUE(CubinCache({"cache"}).find(key_of(1)));
  fs::current_path(before);
}

void overwrite(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_F(CubinCacheTest, ReplacesADamagedEntry) {
  CubinCache cache({path()});
  const std::string zeros(500, '\0');
  for (const std::string& text : {std::string("garbage"), std::string(), zeros}) {
    cache.store(artifact_of(1));
    overwrite(entry(1), text);
    EXPECT_FALSE(cache.find(key_of(1)));
    cache.store(artifact_of(1));
    EXPECT_TRUE(cache.find(key_of(1)));
  }
}

TEST_F(CubinCacheTest, ReplacesATruncatedEntry) {
  CubinCache cache({path()});
  cache.store(artifact_of(1));
  fs::resize_file(entry(1), fs::file_size(entry(1)) - 1);
  EXPECT_FALSE(cache.find(key_of(1)));
}

TEST_F(CubinCacheTest, CompilesAgainWhatWasDamaged) {
  CubinCache cache({path()});
  const Artifact first = std::get<Artifact>(compile(small_request(), &cache));
  overwrite(path() / (first.key + ".artifact"), "garbage");
  const Artifact second = std::get<Artifact>(compile(small_request(), &cache));
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_TRUE(std::get<Artifact>(compile(small_request(), &cache)).from_cache);
}

TEST_F(CubinCacheTest, ListsTheKeysThatBeginSo) {
  CubinCache cache({path()});
  EXPECT_TRUE(cache.keys("").empty());
  for (const int number : {0x12, 0x1f, 0x20}) {
    cache.store(artifact_of(number));
  }
  std::ofstream(path() / "000.txt") << "not ours";
  EXPECT_EQ(cache.keys("").size(), 3U);
  const std::string zeros(62, '0');
  EXPECT_EQ(cache.keys(zeros + "1"), (std::vector<std::string>{key_of(0x12), key_of(0x1f)}));
  EXPECT_TRUE(cache.keys("f").empty());
}

TEST_F(CubinCacheTest, SurvivesAFolderInPlaceOfAnEntry) {
  fs::create_directories(entry(1) / "inside");
  CubinCache cache({path()});
  EXPECT_FALSE(cache.find(key_of(1)));
}

TEST_F(CubinCacheTest, DropsWhatWasNotUsedForLongest) {
  CubinCache cache({path(), 35'000});
  const auto now = fs::file_time_type::clock::now();
  for (int i = 1; i <= 3; ++i) {
    cache.store(artifact_of(i, 10'000));
    fs::last_write_time(entry(i), now - std::chrono::hours(10 - i));
  }
  EXPECT_TRUE(cache.find(key_of(1)));  // the oldest, but used now
  cache.store(artifact_of(4, 10'000));
  EXPECT_TRUE(cache.find(key_of(1)));
  EXPECT_FALSE(cache.find(key_of(2)));
  EXPECT_TRUE(cache.find(key_of(4)));
  EXPECT_LE(cache.contents().bytes, 35'000);
}

TEST_F(CubinCacheTest, CountsWhatOtherProcessesLeftAtItsFirstStore) {
  CubinCache({path()}).store(artifact_of(1, 10'000));
  CubinCache small({path(), 12'000});
  small.store(artifact_of(2, 9'000));
  EXPECT_LE(small.contents().bytes, 12'000);
}

TEST_F(CubinCacheTest, RemovesWhatAKilledProcessLeft) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {".fatune-0123456789abcdef.tmp", ".fatune-notes.tmp", "mine.tmp"}) {
    overwrite(path() / name, "half an entry");
    fs::last_write_time(path() / name, old);
  }
  overwrite(path() / ".fatune-1123456789abcdef.tmp", "being written now");
  CubinCache cache({path()});
  cache.store(artifact_of(1));
  EXPECT_FALSE(fs::exists(path() / ".fatune-0123456789abcdef.tmp"));
  for (const char* kept : {".fatune-1123456789abcdef.tmp", ".fatune-notes.tmp", "mine.tmp"}) {
    EXPECT_TRUE(fs::exists(path() / kept)) << kept;
  }
}

// --- Folders and entries of others ---

/// Captures what spdlog's default logger writes during this object's lifetime.
class CapturedLog {
 public:
  CapturedLog() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("captured", sink));
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  CapturedLog(CapturedLog&&) = delete;
  CapturedLog& operator=(CapturedLog&&) = delete;
  ~CapturedLog() { spdlog::set_default_logger(before_); }

  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

/// The links have the names that temporaries of this process once had.
TEST_F(CubinCacheTest, DoesNotWriteThroughLinksThatLieReady) {
  overwrite(path() / "victim", "keep");
  for (int i = 0; i < 100; ++i) {
    fs::create_symlink(path() / "victim", path() / fmt::format("{}-{}.tmp", getpid(), i));
  }
  CubinCache cache({path()});
  EXPECT_EQ(cache.why_unwritable(), "");
  cache.store(artifact_of(1));
  EXPECT_TRUE(cache.find(key_of(1)));
  EXPECT_EQ(fs::file_size(path() / "victim"), 4U);
}

TEST_F(CubinCacheTest, DoesNotFollowALinkInPlaceOfAnEntry) {
  CubinCache cache({path()});
  cache.store(artifact_of(1));
  fs::rename(entry(1), path() / "elsewhere");
  fs::create_symlink(path() / "elsewhere", entry(1));
  EXPECT_FALSE(cache.find(key_of(1)));
  cache.store(artifact_of(1));
  EXPECT_TRUE(cache.find(key_of(1)));
  EXPECT_FALSE(fs::is_symlink(entry(1)));
}

TEST_F(CubinCacheTest, DoesNotWaitForANamedPipe) {
  CubinCache cache({path()});
  ASSERT_EQ(mkfifo(entry(1).c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(key_of(1)));
  cache.store(artifact_of(1));
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST_F(CubinCacheTest, DoesNotTakeMemoryForAHugeEntry) {
  CubinCache cache({path()});
  cache.store(artifact_of(2));
  overwrite(entry(1), "sparse");
  fs::resize_file(entry(1), std::uintmax_t{40} << 30);
  const CapturedLog log;
  spdlog::default_logger()->set_level(spdlog::level::debug);
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_EQ(log.text().find("damaged"), std::string::npos) << "it was read";
  CubinCache({path()}).store(artifact_of(3));
  EXPECT_FALSE(fs::exists(entry(1)));
  EXPECT_TRUE(cache.find(key_of(2))) << "the huge entry goes first";
}

/// Expects that entries are neither read from the folder nor written to it, with one warning.
void expect_refused(const fs::path& folder, const std::string& why) {
  CubinCache cache({folder});
  const CapturedLog log;
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_FALSE(cache.contains(key_of(1)));
  cache.store(artifact_of(2));
  EXPECT_FALSE(fs::exists(folder / (key_of(2) + ".artifact")));
  EXPECT_THAT(cache.why_unwritable(), HasSubstr(why));
  EXPECT_THAT(log.text(), HasSubstr(why));
  EXPECT_EQ(log.text().find("cannot be used"), log.text().rfind("cannot be used"));
}

TEST_F(CubinCacheTest, IsNotUsedWhereOthersMayWrite) {
  CubinCache({path()}).store(artifact_of(1));
  fs::permissions(path(), fs::perms::owner_all | fs::perms::others_write);
  expect_refused(path(), "'chmod go-w " + path().string() + "'");
}

TEST_F(CubinCacheTest, IsNotUsedInAFolderOfAnotherUser) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  CubinCache({path()}).store(artifact_of(1));
  ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
  expect_refused(path(), "belongs to another user (uid 65534)");
}

TEST_F(CubinCacheTest, MakesItsFolderForThisUserAlone) {
  const mode_t before = umask(0);
  CubinCache({path() / "new"}).store(artifact_of(1));
  umask(before);
  EXPECT_EQ(fs::status(path() / "new").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(CubinCache({path() / "new"}).find(key_of(1)));
}

/// A file stands in place of the folder, because root could write to any folder.
TEST_F(CubinCacheTest, WorksWithoutAFolderAfterOneWarning) {
  overwrite(path() / "file", "in the way");
  CubinCache cache({path() / "file" / "fatune"});
  const CapturedLog log;
  cache.store(artifact_of(1));
  cache.store(artifact_of(2));
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_EQ(cache.contents().entries, 0);
  EXPECT_THAT(cache.why_unwritable(), HasSubstr("cannot create folder"));
  EXPECT_TRUE(std::holds_alternative<Artifact>(compile(small_request(), &cache)));
  EXPECT_THAT(log.text(), HasSubstr("the cubin cache cannot be used"));
  EXPECT_EQ(log.text().find("cannot be used"), log.text().rfind("cannot be used"));
}

TEST_F(CubinCacheTest, SaysThatTheFolderIsAFile) {
  overwrite(path() / "file", "in the way");
  EXPECT_THAT(CubinCache({path() / "file"}).why_unwritable(), HasSubstr("cannot create folder"));
}

/// Readers see a whole entry while writers replace it.
TEST_F(CubinCacheTest, IsWholeForReadersBesideWriters) {
  CubinCache cache({path()});
  cache.store(artifact_of(1, 200'000));
  std::vector<std::jthread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 30; ++round) {
        cache.store(artifact_of(1, 200'000));
      }
    });
  }
  for (int round = 0; round < 60; ++round) {
    EXPECT_TRUE(cache.find(key_of(1)));
  }
}

[[noreturn]] void store_many_and_exit(const fs::path& folder) {
  CubinCache cache({folder});
  for (int i = 0; i < 50; ++i) {
    if (!cache.try_store(artifact_of(i % 5, 20'000)).empty()) {
      _exit(1);
    }
  }
  _exit(0);
}

TEST_F(CubinCacheTest, IsPublishedToBySeveralProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      store_many_and_exit(path());
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  CubinCache cache({path()});
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(cache.find(key_of(i))) << i;
  }
  EXPECT_EQ(cache.contents().entries, 5);
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), {}), 5);  // no temporary file is left
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    before_ = before == nullptr ? std::nullopt : std::optional<std::string>(before);
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) = delete;
  Variable& operator=(Variable&&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheSettings, FollowTheXdgRules) {
  const Variable home("HOME", "/home/someone");
  const Variable mebibytes("FATUNE_CACHE_MIB", nullptr);
  {
    const Variable xdg("XDG_CACHE_HOME", "/var/cache/me");
    EXPECT_EQ(cache_settings_from_environment().folder, "/var/cache/me/fatune");
  }
  for (const char* ignored : {static_cast<const char*>(nullptr), "", "relative/path"}) {
    const Variable xdg("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(cache_settings_from_environment().folder, "/home/someone/.cache/fatune");
  }
  EXPECT_EQ(cache_settings_from_environment().cap_bytes, std::int64_t{1} << 30);
}

TEST(CacheSettings, KnowNoFolderWithoutAHome) {
  const Variable home("HOME", nullptr);
  const Variable xdg("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(cache_settings_from_environment().folder, "");
}

TEST(CacheSettings, TakeTheCapFromTheEnvironment) {
  const Variable mebibytes("FATUNE_CACHE_MIB", "20");
  EXPECT_EQ(cache_settings_from_environment().cap_bytes, 20 << 20);
  for (const char* wrong : {"0", "-5", "ten", "5x", "99999999999999999999", " 5"}) {
    const Variable bad("FATUNE_CACHE_MIB", wrong);
    try {
      static_cast<void>(cache_settings_from_environment());
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("FATUNE_CACHE_MIB"));
    }
  }
}

}  // namespace
}  // namespace fatune

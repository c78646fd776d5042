#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "store/open_store.hpp"

namespace fatune {

/// A test with a folder of its own for its database.
class StoreFolder : public testing::Test {
 protected:
  StoreFolder() { std::filesystem::create_directories(folder_); }
  ~StoreFolder() override { std::filesystem::remove_all(folder_); }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  StoreFolder(StoreFolder&&) = delete;
  StoreFolder& operator=(StoreFolder&&) = delete;

  [[nodiscard]] Database open() const { return open_store(path_, Database::Mode::create); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("fatune_store_" + std::to_string(::getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::filesystem::path path_ = folder_ / "sub" / "fatune.db";
};

/// Expects `action` to throw an Error of this code with all of `parts` in its message.
template <typename Action>
void expect_store_error(Action action, ExitCode code, const std::vector<std::string>& parts) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  }
}

}  // namespace fatune

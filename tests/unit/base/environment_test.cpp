#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fatune {
namespace {

class Environment : public testing::Test {
 protected:
  ~Environment() override { ::unsetenv(kName); }

  static constexpr const char* kName = "FATUNE_TEST_FOLDER";
};

TEST_F(Environment, AnEmptyVariableIsUnset) {
  EXPECT_FALSE(environment_variable(kName));
  ::setenv(kName, "", 1);
  EXPECT_FALSE(environment_variable(kName));
  ::setenv(kName, "/a b", 1);
  EXPECT_EQ(environment_variable(kName), "/a b");
}

TEST_F(Environment, AFolderIsBelowHomeUnlessAnAbsoluteOneIsNamed) {
  const std::string home = environment_variable("HOME").value_or("");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(xdg_folder(kName, ".cache"), "/home/someone/.cache");
  ::setenv(kName, "relative", 1);
  EXPECT_EQ(xdg_folder(kName, ".cache"), "/home/someone/.cache");
  ::setenv(kName, "/cache", 1);
  EXPECT_EQ(xdg_folder(kName, ".cache"), "/cache");
  ::unsetenv(kName);
  ::unsetenv("HOME");
  EXPECT_FALSE(xdg_folder(kName, ".cache"));
  ::setenv("HOME", home.c_str(), 1);
}

TEST(ShellWord, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("--seq=1,2"), "--seq=1,2");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace fatune

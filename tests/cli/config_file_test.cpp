// Tests fatune.toml: where it is searched, what it sets, and errors in it.
#include "cli/program.hpp"

#include <unistd.h>

namespace fatune::testing_cli {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

class ConfigFile : public ProgramTest {
 protected:
  ConfigFile() {
    process_.environment.erase("FATUNE_CONFIG_FILE");
    start_in("");
  }

  /// Makes later commands start in this folder of the test.
  void start_in(const std::string& folder) {
    fs::create_directories(folder_ / folder);
    process_.folder = (folder_ / folder).string();
  }

  std::size_t configurations(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"list", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune_json(arguments)["kept"].size();
  }

  void expect_wrong(const std::string& text, const std::vector<std::string>& parts) {
    write("fatune.toml", text);
    expect_error(fatune({"list"}), ExitCode::bad_file, parts);
  }
};

TEST_F(ConfigFile, GivesDefaultsThatTheCommandLineBeats) {
  const std::size_t prog = configurations({"--space", "prog", "--dtype", "fp16"});
  const std::size_t tune = configurations({"--space", "tune", "--dtype", "fp16"});
  write("fatune.toml", "dtype = 'fp16'\n[list]\nspace = 'prog'\n");
  EXPECT_EQ(configurations(), prog);
  EXPECT_EQ(configurations({"--space", "tune"}), tune);
  EXPECT_EQ(configurations({"--space=tune"}), tune);
  process_.environment["KERNELS"] = "tune";
  EXPECT_EQ(configurations(), prog) << "the file comes before KERNELS";
}

TEST_F(ConfigFile, IsFoundInTheNearestFolderAboveUpToHome) {
  start_in("project/deep/down");
  write("fatune.toml", "[list]\nformat = 'csv'\n");
  EXPECT_THAT(fatune({"list", "--space", "prog"}).out, testing::StartsWith("status,config,"));
  write("project/fatune.toml", "[list]\nformat = 'md'\n");
  EXPECT_THAT(fatune({"list", "--space", "prog"}).out, HasSubstr("| status |"));
  process_.environment["HOME"] = path("project/deep");
  EXPECT_THAT(fatune({"list", "--space", "prog"}).out, Not(HasSubstr("| status |")));
}

TEST_F(ConfigFile, IsNamedByOptionOrVariable) {
  write("fatune.toml", "[list]\nformat = 'csv'\n");
  write("other.toml", "[list]\nformat = 'md'\n");
  const std::vector<std::string> list{"list", "--space", "prog"};
  EXPECT_THAT(fatune({"list", "--space", "prog", "--config-file", path("other.toml")}).out,
              HasSubstr("| status |"));
  EXPECT_THAT(fatune({"--config-file", "none", "list", "--space", "prog"}).out,
              HasSubstr("space prog of flash_sm80"));
  process_.environment["FATUNE_CONFIG_FILE"] = path("other.toml");
  EXPECT_THAT(fatune(list).out, HasSubstr("| status |"));
  process_.environment["FATUNE_CONFIG_FILE"] = "none";
  EXPECT_THAT(fatune(list).out, HasSubstr("space prog of flash_sm80"));
  expect_error(fatune({"list", "--config-file", path("absent.toml")}), ExitCode::bad_file,
               {"absent.toml"});
  expect_error(fatune({"list", "--config-file", path("")}), ExitCode::bad_file, {"is a folder"});
  expect_error(fatune({"list", "--config-file", ""}), ExitCode::usage,
               {"--config-file: an empty name"});
  write("large.toml", std::string((1 << 20) + 1, '\n'));
  expect_error(fatune({"list", "--config-file", path("large.toml")}), ExitCode::bad_file,
               {"large.toml", "is larger than 1048576 bytes"});
}

/// A file in the folder above that sets the format of `list`.
class FoundConfigFile : public ConfigFile {
 protected:
  FoundConfigFile() {
    write("fatune.toml", "[list]\nformat = 'md'\n");
    start_in("project");
  }

  void expect_refused(const char* why) {
    expect_error(
        fatune({"list", "--space", "prog"}), ExitCode::bad_file,
        {"fatune.toml", why, "--config-file " + path("fatune.toml"), "--config-file none"});
    EXPECT_THAT(fatune({"list", "--space", "prog", "--config-file", path("fatune.toml")}).out,
                HasSubstr("| status |"));
  }
};

TEST_F(FoundConfigFile, IsNotReadIfOthersMayChangeIt) {
  fs::permissions(path("fatune.toml"), fs::perms(0666));
  expect_refused("may be changed by other users (mode 666)");
}

TEST_F(FoundConfigFile, IsNotReadIfItOrItsLinkIsAnotherUsers) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  ASSERT_EQ(::chown(path("fatune.toml").c_str(), 1000, 1000), 0);
  expect_refused("belongs to another user (uid 1000)");
  write("mine.toml", read("fatune.toml"));
  fs::remove(path("fatune.toml"));
  fs::create_symlink(path("mine.toml"), path("fatune.toml"));
  EXPECT_THAT(fatune({"list", "--space", "prog"}).out, HasSubstr("| status |"));
  ASSERT_EQ(::lchown(path("fatune.toml").c_str(), 1000, 1000), 0);
  expect_refused("belongs to another user (uid 1000)");
}

TEST_F(ConfigFile, HasListsFlagsNumbersAndSectionsOfInnerCommands) {
  write("fatune.toml",
        "[compile]\nseq = [512]\ncausal = true\nlse = false\nspace = 'prog'\n"
        "dtype = ['fp16', 'bf16']\n"
        "[sass.map]\ntop = 3\n");
  const auto compiled = fatune_json({"compile", "--config", kConfig, "--format", "json"});
  EXPECT_EQ(compiled["problem"]["seq_len"], 512);
  EXPECT_EQ(compiled["problem"]["causal"], true);
  EXPECT_EQ(compiled["problem"]["lse"], false);
}

TEST_F(ConfigFile, AnOptionThatExcludesOneOfTheFileBeatsIt) {
  write("fatune.toml", "[compile]\ncausal = true\n");
  const auto compiled =
      fatune_json({"compile", "--config", kConfig, "--no-causal", "--format", "json"});
  EXPECT_EQ(compiled["problem"]["causal"], false);
}

TEST_F(ConfigFile, NamesFilesFromItsOwnFolder) {
  fs::create_directories(folder_ / "project/spaces");
  fs::copy_file(kFewSpace, folder_ / "project/spaces/mine.json");
  write("project/fatune.toml", "[list]\nspace = 'spaces/mine.json'\n[sweep]\nout = 'results'\n");
  start_in("project/deep");
  EXPECT_THAT(fatune({"list"}).out, HasSubstr("space "));
  EXPECT_EQ(fatune({"list"}).exit_code, 0);
  expect_ok(fatune({"sweep", "--space", kFewSpace, "--seq", "64", "--no-emulate", "--no-db"}));
  EXPECT_TRUE(fs::exists(folder_ / "project/results/results.json"));
}

TEST_F(ConfigFile, IsPartOfTheCommandThatRepeatsARun) {
  write("fatune.toml", "[sweep]\nseq = [64, 128]\nno-emulate = true\n");
  const auto run = fatune_json({"sweep", "--space", kFewSpace, "--no-db", "--format", "json"});
  EXPECT_EQ(run["command_line"],
            "fatune --config-file none sweep --no-emulate --seq=64,128 --space " + kFewSpace +
                " --no-db --format json");
}

TEST_F(ConfigFile, IsNamedUnlessTheUserWantsQuiet) {
  write("fatune.toml", "[list]\nspace = 'prog'\n");
  EXPECT_EQ(fatune({"list"}).err, "defaults are from fatune.toml\n");
  EXPECT_EQ(fatune({"list", "-q"}).err, "");
}

TEST_F(ConfigFile, AMistakeIsNamedWithItsLine) {
  expect_wrong("[list]\nspce = 'prog'\n",
               {"fatune.toml:2", "'list' has no option 'spce'", "did you mean 'space'?"});
  expect_wrong("\n[swep]\nseq = 1\n", {"fatune.toml:2", "no command 'swep'", "'sweep'"});
  expect_wrong("dhaed = 64\n", {"fatune.toml:1", "no command has an option 'dhaed'", "'dhead'"});
  expect_wrong("[sass.mapp]\n", {"fatune.toml:1", "no command 'mapp'", "'map'"});
  expect_wrong("[list]\npresets = 'yes'\n", {"fatune.toml:2", "'presets' must be true or false"});
  expect_wrong("[list]\nseq = true\n", {"fatune.toml:2", "'seq' cannot have this value"});
  expect_wrong("[list]\nseq = [64\n", {"fatune.toml:"});
  expect_wrong("[list]\nseq = 1\nseq = 2\n", {"fatune.toml:3"});
  expect_wrong("[list]\nconfig-file = 'x'\n", {"fatune.toml:2", "no option 'config-file'"});
  expect_wrong("[sweep]\nspce = 'x'\n", {"fatune.toml:2", "'sweep' has no option 'spce'"});
}

TEST_F(ConfigFile, AValueThatAnOptionRefusesIsNamedWithItsLine) {
  write("fatune.toml", "[list]\n\nseq = 'long'\n");
  expect_error(fatune({"list"}), ExitCode::usage,
               {"fatune.toml:3: --seq: 'long' is not an integer"});
  write("fatune.toml", "[list]\nformat = 'xml'\n");
  expect_error(fatune({"list"}), ExitCode::usage, {"fatune.toml:2: --format: xml not in"});
}

TEST_F(ConfigFile, IsNotReadForHelp) {
  write("fatune.toml", "no TOML");
  expect_ok(fatune({"list", "--help"}));
  expect_ok(fatune({"--version"}));
  expect_ok(fatune({"help", "list"}));
  expect_ok(fatune({}));
}

TEST_F(ConfigFile, HostileTextsAreShownWithoutEffect) {
  expect_wrong("[list]\n\"\\u001b[31mred\" = 1\n", {"fatune.toml:2"});
  EXPECT_THAT(fatune({"list"}).err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace fatune::testing_cli

// Tests the help texts. One is compared with a file as a whole; all have the same properties.
#include "cli/program.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include "base/text_parts.hpp"

namespace fatune::testing_cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

/// As docs/reference.md lists them.
constexpr std::array kGroups{"Problem", "Kernels", "Device", "Measuring", "Search",
                             "Store",   "Output",  "Fleets", "General"};
constexpr std::size_t kWidth = 80;
constexpr std::size_t kMostCommon = 10;

Words words_of(std::string_view text, char separator = ' ') {
  Words words;
  while (!text.empty()) {
    words.emplace_back(take_until(text, separator));
  }
  return words;
}

struct CommandOptions {
  Words words;  ///< "sass", "map"
  Words options;
};

/// The options that a help describes, each with its text up to the next term.
std::map<std::string, std::string> described_options(const std::string& help) {
  std::map<std::string, std::string> described;
  std::string* text = nullptr;
  for (const std::string& line : words_of(help, '\n')) {
    std::smatch term;
    static const std::regex option("^  (-\\w, )?(--?[\\w-]+)( .*)?$");
    if (std::regex_match(line, term, option)) {
      text = &described[term[2]];
      *text = std::regex_replace(term[3].str(), std::regex("^ \\S+ ?"), "");
    } else if (text != nullptr && line.starts_with("      ")) {
      *text += line;
    } else {
      text = nullptr;
    }
  }
  return described;
}

/// The groups of a help with their lines, in its order.
std::vector<std::pair<std::string, Words>> groups_of(const std::string& help) {
  std::vector<std::pair<std::string, Words>> groups;
  for (const std::string& line : words_of(help.substr(0, help.find("\nExamples:")), '\n')) {
    std::smatch title;
    if (std::regex_match(line, title, std::regex("^([A-Z][a-z]+)( options)?:$"))) {
      groups.emplace_back(title[1], Words());
    } else if (!groups.empty()) {
      groups.back().second.push_back(line);
    }
  }
  return groups;
}

class Help : public ProgramTest {
 protected:
  /// The command and those below it that can be completed, with their options.
  std::vector<CommandOptions> commands(const Words& words = {}) {
    std::vector<CommandOptions> all{{words, described_completions(words, "-")}};
    for (const std::string& command : described_completions(words, "")) {
      Words longer = words;
      longer.push_back(command);
      const auto below = commands(longer);
      all.insert(all.end(), below.begin(), below.end());
    }
    return all;
  }

  /// The completions that have a description, which those of values lack.
  Words described_completions(Words words, const std::string& current) {
    words.insert(words.begin(), "__complete");
    words.push_back(current);
    Words described;
    for (const std::string& line : words_of(fatune(words).out, '\n')) {
      if (line.find('\t') != std::string::npos) {
        described.push_back(line.substr(0, line.find('\t')));
      }
    }
    return described;
  }

  std::string help_of(Words words, const std::string& option) {
    words.push_back(option);
    const ProcessResult result = fatune(words);
    expect_ok(result);
    return result.out;
  }
};

bool is_grouped(const CommandOptions& command) {
  return std::ranges::count(command.options, "--help-all") != 0;
}

TEST_F(Help, WithoutArgumentsPrintsTheOverview) {
  const ProcessResult result = fatune({});
  expect_ok(result);
  EXPECT_EQ(fatune({"--help"}).out, result.out);
  EXPECT_THAT(result.out, HasSubstr("fatune sweep --seq 4096 --dhead 128"));
  for (const CommandOptions& command : commands()) {
    if (command.words.size() == 1) {
      EXPECT_THAT(result.out,
                  testing::ContainsRegex("\n  " + command.words[0] + "  +[A-Z][a-z]+ "));
    }
  }
}

TEST_F(Help, OfManyOptionsBeginsWithTheCommonOnes) {
  expect_golden(help_of({"sweep"}, "--help"), "help_sweep.txt");
}

TEST_F(Help, FitsEightyColumns) {
  for (const CommandOptions& command : commands()) {
    for (const char* option : {"--help", "--help-all"}) {
      const std::string help = help_of(command.words, option);
      for (const std::string& line : words_of(help, '\n')) {
        EXPECT_LE(line.size(), kWidth) << joined(command.words, " ") << ": " << line;
      }
      EXPECT_EQ(help.back(), '\n') << joined(command.words, " ");
      EXPECT_EQ(help.find('\t'), std::string::npos);
    }
  }
}

TEST_F(Help, DescribesEachOption) {
  for (const CommandOptions& command : commands()) {
    const auto described = described_options(help_of(command.words, "--help-all"));
    for (const std::string& option : command.options) {
      if (option.starts_with("--")) {
        ASSERT_TRUE(described.contains(option)) << joined(command.words, " ") << " " << option;
        EXPECT_GT(described.at(option).size(), 8U) << joined(command.words, " ") << " " << option;
      }
    }
  }
}

TEST_F(Help, NamesTheOptionsThatItDoesNotDescribe) {
  std::size_t grouped = 0;
  for (const CommandOptions& command : commands()) {
    if (!is_grouped(command)) {
      continue;
    }
    ++grouped;
    const std::string help = help_of(command.words, "--help");
    const std::string name = joined(command.words, " ");
    const auto common = described_options(help);
    EXPECT_GE(common.size(), 5U) << name;
    EXPECT_LE(common.size(), kMostCommon) << name;
    EXPECT_THAT(help, HasSubstr("--help-all")) << name;
    for (const std::string& option : command.options) {
      if (option.starts_with("--")) {
        EXPECT_THAT(words_of(std::regex_replace(help, std::regex("[,\\s]+"), " ")),
                    Contains(option))
            << name;
      }
    }
  }
  EXPECT_GT(grouped, 15U);
}

TEST_F(Help, HasItsGroupsInOrder) {
  for (const CommandOptions& command : commands()) {
    if (!is_grouped(command)) {
      continue;
    }
    const std::string name = joined(command.words, " ");
    const auto groups = groups_of(help_of(command.words, "--help-all"));
    std::vector<std::ptrdiff_t> places;
    for (const auto& [title, lines] : groups) {
      if (title != "Arguments" && title != "Commands") {
        places.push_back(std::ranges::find(kGroups, title) - kGroups.begin());
        EXPECT_LT(places.back(), std::ssize(kGroups)) << name << ": " << title;
      }
    }
    EXPECT_GE(places.size(), 3U) << name;
    EXPECT_TRUE(std::ranges::is_sorted(places)) << name;
  }
}

TEST_F(Help, PutsNoOptionOfOneCommandAmongTheGeneralOnes) {
  for (const CommandOptions& command : commands()) {
    for (const auto& [title, lines] : groups_of(help_of(command.words, "--help-all"))) {
      if (title == "General") {
        const auto described = described_options(joined(lines, "\n"));
        Words names;
        for (const auto& [option, text] : described) {
          names.push_back(option);
        }
        EXPECT_THAT(names, testing::UnorderedElementsAre("--help", "--help-all", "--config-file"))
            << joined(command.words, " ");
      }
    }
  }
}

TEST_F(Help, IsFlatWhereOptionsAreFew) {
  const std::string help = help_of({"devices"}, "--help");
  EXPECT_THAT(help, HasSubstr("\nOptions:\n  -h, --help"));
  EXPECT_THAT(help, Not(HasSubstr("--help-all")));
  EXPECT_EQ(help, help_of({"devices"}, "--help-all"));
}

TEST_F(Help, FollowsTheWidthOfTheTerminal) {
  const auto widest = [&](unsigned short columns) {
    process_.terminal_columns = columns;
    const std::string help = help_of({"sweep"}, "--help-all");
    const Words lines = words_of(help.substr(0, help.find("\nExamples:")), '\n');
    return std::ranges::max(lines, {}, &std::string::size).size();
  };
  EXPECT_LE(widest(50), 51U);  // with the terminal's carriage return
  EXPECT_GT(widest(120), kWidth);
  EXPECT_LE(widest(120), 121U);
}

TEST_F(Help, EveryCommandHasItsOwnWithExamples) {
  for (const CommandOptions& command : commands()) {
    EXPECT_THAT(help_of(command.words, "--help"), HasSubstr("\nExamples:\n  "))
        << joined(command.words, " ");
  }
}

TEST_F(Help, TheCommandsOfSassHaveExamplesOfTheirOwn) {
  for (const char* command : {"diff", "map", "why", "cfg", "clean"}) {
    const ProcessResult result = fatune({"sass", command, "--help"});
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr(std::string("Examples:\n  fatune sass ") + command))
        << command;
    EXPECT_THAT(result.out, testing::Not(HasSubstr("fatune sweep")));
  }
}

TEST_F(Help, SaysWhatAnOptionNeedsAndExcludes) {
  const auto described = described_options(help_of({"sweep"}, "--help-all"));
  const auto text = [&](const std::string& option) {
    return std::regex_replace(described.at(option), std::regex(" +"), " ");
  };
  EXPECT_THAT(text("--fleet"), HasSubstr("; needs --shard"));
  EXPECT_THAT(text("--causal"), HasSubstr("; excludes --no-causal"));
  EXPECT_THAT(described_options(help_of({"run"}, "--help")).at("--config"), HasSubstr("required"));
}

TEST_F(Help, HelpIsACommandToo) {
  EXPECT_EQ(fatune({"help"}).out, fatune({"--help"}).out);
  EXPECT_EQ(fatune({"help", "sweep"}).out, fatune({"sweep", "--help"}).out);
  EXPECT_EQ(fatune({"help", "sass", "map"}).out, fatune({"sass", "map", "--help"}).out);
  expect_error(fatune({"help", "swep"}), ExitCode::usage, {"no command 'swep'", "'sweep'"});
  expect_error(fatune({"help", "sass", "maps"}), ExitCode::usage, {"no command 'maps'", "'map'"});
  expect_error(fatune({"help", "sweep", "map"}), ExitCode::usage,
               {"no command 'map'", "'sweep' has no commands"});
}

TEST_F(Help, VersionTellsWhatAReportOfAMistakeShouldName) {
  const std::string text = fatune({"--version"}).out;
  EXPECT_THAT(text, testing::ContainsRegex("^fatune [0-9.]+\ncommit [0-9a-z+]+\nbuild [A-Za-z]*\n"
                                           "NVRTC [0-9]+\\.[0-9]\ndriver [0-9a-z.]+\n$"));
  EXPECT_EQ(fatune({"-V"}).out, text);
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  process_.environment["FATUNE_FAKE_NVML_DRIVER"] = "580.1";
  EXPECT_THAT(fatune({"-V"}).out, HasSubstr("\ndriver 580.1\n"));
  process_.environment["FATUNE_LIBNVML"] = "/nonexistent/libnvidia-ml.so.1";
  EXPECT_THAT(fatune({"-V"}).out, HasSubstr("\ndriver none\n"));
}

TEST_F(Help, VersionAnswersAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = fatune({"--version"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  expect_ok(result);
  EXPECT_THAT(result.out, StartsWith("fatune "));
  EXPECT_LT(took.count(), 0.5);  // 50 ms on a quiet machine, as scripts/ measures
}

}  // namespace
}  // namespace fatune::testing_cli

#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// The words of a command line without quotes.
inline std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The arguments, and behind them the words of `more`.
inline std::vector<std::string> with(std::vector<std::string> arguments, const std::string& more) {
  for (const std::string& word : words(more)) {
    arguments.push_back(word);
  }
  return arguments;
}

/// The letters and digits of a test's parameter, as its name.
inline std::string name_of(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isalnum(c) == 0; });
  return text;
}

/// Emulates configurations of one family, with all checks and random schedules.
class EmulatedFamily : public ProgramTest {
 protected:
  explicit EmulatedFamily(std::string family) : family_(std::move(family)) {}

  /// The configurations that a space keeps.
  std::vector<std::string> kept(const std::string& space) {
    const nlohmann::json list =
        fatune_json({"list", "--family", family_, "--space", space, "--format", "json"});
    std::vector<std::string> configs;
    for (const nlohmann::json& row : list["kept"]) {
      configs.push_back(row["config"]);
    }
    return configs;
  }

  /// Returns what the report says of each configuration.
  nlohmann::json expect_right(const std::vector<std::string>& configs,
                              const std::vector<std::string>& problem,
                              const std::string& timing = "random") {
    std::vector<std::string> arguments{"emulate", "--family", family_, "--format",
                                       "json",    "--timing", timing};
    for (const std::string& config : configs) {
      arguments.insert(arguments.end(), {"--config", config});
    }
    arguments.insert(arguments.end(), problem.begin(), problem.end());
    const nlohmann::json report = fatune_json(arguments);
    EXPECT_EQ(report["configs"].size(), configs.size());
    for (const nlohmann::json& row : report["configs"]) {
      EXPECT_EQ(row["outcome"], "right") << row["config"] << ": " << row["detail"];
      EXPECT_TRUE(row["findings"].empty()) << row["config"] << ": " << row["findings"];
    }
    return report["configs"];
  }

 private:
  std::string family_;
};

}  // namespace fatune::testing_cli

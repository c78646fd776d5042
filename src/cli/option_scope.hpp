#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "manual/command_page.hpp"

namespace fatune {

/// Puts the options that are added to a command during the scope's life into a group of the help.
class OptionScope {
 public:
  /// `group`: one of kOptionGroups.
  OptionScope(CLI::App& app, const char* group)
      : app_(app), before_(app.option_defaults()->get_group()) {
    app.option_defaults()->group(group);
  }
  ~OptionScope() { app_.option_defaults()->group(before_); }
  OptionScope(const OptionScope&) = delete;
  OptionScope& operator=(const OptionScope&) = delete;

 private:
  CLI::App& app_;
  std::string before_;
};

}  // namespace fatune

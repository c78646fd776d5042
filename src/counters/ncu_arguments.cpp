#include "counters/ncu_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fatune {

std::vector<std::string> ncu_profile_arguments(const NcuProfile& profile) {
  std::vector<std::string> arguments{"--profile-from-start",
                                     "off",
                                     "--clock-control",
                                     "none",
                                     "--cache-control",
                                     "all",
                                     "--replay-mode",
                                     "kernel",
                                     "--target-processes",
                                     "all",
                                     "--log-file",
                                     profile.log,
                                     "--export",
                                     profile.report,
                                     "--force-overwrite"};
  if (!profile.set.empty()) {
    arguments.insert(arguments.end(), {"--set", profile.set});
  }
  for (const std::string& section : profile.sections) {
    arguments.insert(arguments.end(), {"--section", section});
  }
  if (!profile.metrics.empty()) {
    arguments.insert(arguments.end(),
                     {"--metrics", fmt::format("{}", fmt::join(profile.metrics, ","))});
  }
  return arguments;
}

std::vector<std::string> ncu_table_arguments(const std::string& report) {
  return {"--import", report, "--csv", "--page", "raw", "--print-units", "base"};
}

std::vector<std::string> ncu_text_arguments(const std::string& report) {
  return {"--import", report, "--page", "details"};
}

}  // namespace fatune

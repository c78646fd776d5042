#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "manual/command_page.hpp"

namespace fatune {

namespace option_group {
inline constexpr const char* kProblem = "Problem";
inline constexpr const char* kKernels = "Kernels";
inline constexpr const char* kDevice = "Device";
inline constexpr const char* kMeasuring = "Measuring";
inline constexpr const char* kSearch = "Search";
inline constexpr const char* kStore = "Store";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kFleets = "Fleets";
inline constexpr const char* kGeneral = "General";
}  // namespace option_group

/// The titles of the groups of options, in the order in which help texts and manual pages have
/// them.
inline constexpr std::array<std::string_view, 9> kOptionGroups{
    option_group::kProblem,   option_group::kKernels, option_group::kDevice,
    option_group::kMeasuring, option_group::kSearch,  option_group::kStore,
    option_group::kOutput,    option_group::kFleets,  option_group::kGeneral};

struct GroupOfOptions {
  std::string_view title;
  std::vector<const OptionPage*> options;
};

/// Whether a command has so many options that its texts show them in groups.
[[nodiscard]] bool is_grouped(const CommandPage& page);

/// The groups that have options. If the command has few options, one group without a title has all.
/// Throws std::logic_error for an option of a group that is not in kOptionGroups.
[[nodiscard]] std::vector<GroupOfOptions> grouped_options(const CommandPage& page);

/// The command's common options. Throws std::logic_error for a name that it does not have.
[[nodiscard]] std::vector<const OptionPage*> common_options(const CommandPage& page);

}  // namespace fatune

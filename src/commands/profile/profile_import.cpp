#include "commands/profile/profile_import.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "commands/profile/ncu_reader.hpp"
#include "core/error.hpp"
#include "core/kernel_time.hpp"
#include "counters/counter_fields.hpp"
#include "counters/derive.hpp"
#include "plan/kernel_name.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

/// Returns the configuration that a kernel's name contains, in short form, else the name.
std::string config_of(const Family& family, const std::string& kernel_name) {
  if (!looks_like_kernel_name(family, kernel_name)) {
    return kernel_name;
  }
  try {
    return short_form(family, parse_kernel_name(family, kernel_name));
  } catch (const Error&) {
    return kernel_name;
  }
}

}  // namespace

ProfileReport import_profile(const std::filesystem::path& file, const Family& family,
                             const std::vector<CounterField>& fields) {
  ProfileReport report;
  report.fields = fields;
  std::vector<std::string> order;
  std::map<std::string, std::vector<RawCounters>> launches;
  for (ProfiledLaunch& launch : read_profile(file)) {
    const auto [found, is_new] = launches.try_emplace(launch.kernel_name);
    if (is_new) {
      order.push_back(launch.kernel_name);
    }
    found->second.push_back(std::move(launch.counters));
  }
  for (const std::string& name : order) {
    ProfiledConfig row;
    row.config = config_of(family, name);
    row.kernel_name = name;
    set_counters(launches[name], fields, row);
    if (row.duration_us) {
      check_kernel_time(*row.duration_us, fmt::format("{}: {}: duration_us", file.string(), name));
    }
    report.rows.push_back(std::move(row));
  }
  return report;
}

void set_counters(const std::vector<RawCounters>& runs, const std::vector<CounterField>& fields,
                  ProfiledConfig& row) {
  row.outcome = OutcomeKind::profiled;
  row.runs = static_cast<std::int64_t>(runs.size());
  row.counters = derive_averages(fields, runs);
  const auto duration = choose_counter_fields(std::vector<std::string>{"duration_us"});
  if (const auto average = derive_averages(duration, runs); !average.empty()) {
    row.duration_us = average.front().second;
  }
}

}  // namespace fatune

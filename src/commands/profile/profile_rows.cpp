#include "commands/profile/profile.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/run/compiling.hpp"
#include "attention/problem.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/ranges.hpp"
#include "counters/counter_fields.hpp"
#include "counters/derive.hpp"
#include "engine/candidate_maker.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

/// Whether a profiler's name of a kernel is that of this configuration's kernel.
bool is_kernel_of(const Family& family, const Config& config, const std::string& name) {
  const std::vector<std::string> functions = function_names(family);
  const std::string function = name.substr(0, name.find('('));
  if (is_among(function, functions)) {
    return true;
  }
  try {
    return parse_kernel_name(family, name) == config;
  } catch (const Error&) {
    return false;
  }
}

void set_failure(const Outcome& outcome, ProfiledConfig& row) {
  row.outcome = outcome_kind(outcome);
  row.detail = outcome_summary(outcome);
}

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

ProfiledConfig ProblemProfile::row_of(const ProfileCase& one) const {
  const Family& family = families_.of(one.config);
  ProfiledConfig row;
  row.problem = problem_.problem;
  row.config = short_form(family, one.config);
  row.kernel_name = kernel_name(family, one.config);
  row.total_flop = find_quantity(family, one.config, problem_.problem, limits_, "total_flop");
  row.sweep_us = one.sweep_us;
  return row;
}

void ProblemProfile::compile(CubinCache* cache) {
  std::vector<std::size_t> rows;
  std::vector<CompileRequest> requests;
  for (const ProfileCase& one : problem_.cases) {
    const Family& family = families_.of(one.config);
    rows_.push_back(row_of(one));
    if (auto obstacle = find_obstacle(family, one.config, problem_.problem, limits_)) {
      set_failure(*obstacle, rows_.back());
      continue;
    }
    rows.push_back(rows_.size() - 1);
    requests.push_back(
        compile_request(family, one.config, problem_.problem, limits_.arch, limits_));
  }
  const auto results = compile_all(requests, settings_, cache);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (add_case(rows[i], results[i])) {
      indices_.push_back(rows[i]);
    }
  }
}

// Returns false if it cannot be compiled or launched, or if an interrupt prevented its compilation.
bool ProblemProfile::add_case(std::size_t row,
                              const std::shared_ptr<const CompileResult>& compiled) {
  if (!compiled) {
    return false;
  }
  if (const auto failed = failure_of(*compiled)) {
    set_failure(*failed, rows_[row]);
    return false;
  }
  const Config& config = problem_.cases[row].config;
  const Family& family = families_.of(config);
  const Problem& problem = problem_.problem;
  const ResourceFacts& facts = std::get<Artifact>(*compiled).facts;
  CountCase one;
  one.kernel = {
      rows_[row].config, std::shared_ptr<const Artifact>(compiled, &std::get<Artifact>(*compiled)),
      launch_geometry(family, config, problem, limits_, &facts),
      launch_geometry(family, config, probe_problem(problem), limits_, &facts), family.name};
  Result result = make_result(family, config);
  if (auto obstacle = add_artifact(*one.kernel.artifact, one.kernel.geometry, limits_, result)) {
    set_failure(*obstacle, rows_[row]);
    return false;
  }
  one.is_kernel = [&family, &config](const std::string& name) {
    return is_kernel_of(family, config, name);
  };
  cases_.push_back(std::move(one));
  return true;
}

std::vector<ProfiledConfig> ProblemProfile::finish(const std::vector<CountedCase>& counted,
                                                   const std::vector<CounterField>& fields) {
  for (std::size_t i = 0; i < counted.size(); ++i) {
    ProfiledConfig& row = rows_[indices_[i]];
    if (counted[i].failure) {
      set_failure(*counted[i].failure, row);
    } else {
      set_counters(counted[i].runs, fields, row);
    }
  }
  std::erase_if(rows_,
                [](const ProfiledConfig& row) { return row.outcome == OutcomeKind::stopped; });
  return std::move(rows_);
}

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

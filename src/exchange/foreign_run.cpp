#include "exchange/foreign_run.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "core/text_parts.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "rank/ranking.hpp"

namespace fatune {
namespace {

constexpr double kConfidence = 0.95;

using Names = std::set<std::string>;

Names names_of(const Json& configuration) {
  Names names;
  for (const auto& parameter : configuration.items()) {
    names.insert(parameter.key());
  }
  return names;
}

Names names_of(const Family& family) {
  Names names;
  for (const Parameter& parameter : family.parameters) {
    names.insert(parameter.name);
  }
  return names;
}

/// The parameters of the settings, which must all have the same ones.
Names parameters_of(const TuningResults& results, const std::string& origin) {
  Names names =
      results.settings.empty() ? Names() : names_of(results.settings.front().configuration);
  if (names.empty() || !std::ranges::all_of(results.settings, [&](const TunedSetting& setting) {
        return names_of(setting.configuration) == names;
      })) {
    throw Error(ExitCode::bad_file, "its settings do not all have the same parameters", origin,
                "give the settings of one kernel, at least one");
  }
  return names;
}

/// The family with exactly these parameters.
const Family& family_with(const Names& names, const FamilySet& families,
                          const std::string& origin) {
  const auto found = std::ranges::find_if(
      families.all(), [&](const Family& family) { return names_of(family) == names; });
  if (found == families.all().end()) {
    throw Error(ExitCode::bad_file,
                "no kernel family has the parameters of its settings: " + joined(names, ", "),
                origin, "families are " + joined(families.all(), "; ", [](const Family& family) {
                          return family.name + " (" + parameter_names(family) + ")";
                        }) + "; --kernel-dir adds your own kernel");
  }
  return *found;
}

/// Converts one file's settings to results.
class Reader {
 public:
  Reader(const ForeignFile& file, const Family& family) : file_(file), family_(family) {}

  [[nodiscard]] Result result_of(const TunedSetting& setting) const;

 private:
  [[noreturn]] void fail(const TunedSetting& setting, const std::string& what) const {
    throw Error(ExitCode::bad_file, fmt::format("{}: {}", setting.configuration.dump(), what),
                file_.origin, "only results of configurations that fatune can build are stored");
  }
  [[nodiscard]] Config config_of(const TunedSetting& setting) const;
  [[nodiscard]] Measured measured(const TunedSetting& setting) const;
  [[nodiscard]] Outcome outcome_of(const TunedSetting& setting, const Config& config) const;

  const ForeignFile& file_;
  const Family& family_;
};

Config Reader::config_of(const TunedSetting& setting) const {
  Config config{family_.name, {}};
  for (const Parameter& parameter : family_.parameters) {
    const Json& value = setting.configuration.at(parameter.name);
    try {
      config.values.push_back(
          parse_value(parameter, value.is_string() ? value.get<std::string>() : value.dump()));
    } catch (const Error& error) {
      fail(setting, error.what_was_wrong());
    }
  }
  return config;
}

Measured Reader::measured(const TunedSetting& setting) const {
  std::vector<double> samples_us;
  for (const double runtime_ms : setting.runtimes_ms) {
    samples_us.push_back(runtime_ms * kUsPerMs);
  }
  if (samples_us.empty() && !setting.time_ms) {
    fail(setting, "it has neither a time nor runtimes");
  }
  Measured measured{samples_us.empty() ? timing_of_median(*setting.time_ms * kUsPerMs)
                                       : summarise(std::move(samples_us), kConfidence),
                    {}};
  measured.timing.stopped_because = "imported";
  return measured;
}

Outcome Reader::outcome_of(const TunedSetting& setting, const Config& config) const {
  switch (setting.validity) {
    case Validity::compile:
      return CompileFailed{"the file says that it did not compile"};
    case Validity::runtime:
      return Crashed{"the file says that it could not be run"};
    case Validity::timeout:
      return TimedOut{};
    case Validity::correctness:
      return WrongResult{{}, "the file says that its output was wrong"};
    case Validity::constraints:
      return Pruned{"constraints", "the file says that it was excluded"};
    case Validity::correct:
      break;
  }
  if (const auto invalid = check_valid(family_, config, &file_.problem, &file_.device)) {
    fail(setting, fmt::format("{} cannot build it for {}: {}", family_.name,
                              describe(file_.problem), invalid->reason));
  }
  return measured(setting);
}

Result Reader::result_of(const TunedSetting& setting) const {
  Result result;
  result.config = config_of(setting);
  result.short_form = short_form(family_, result.config);
  result.kernel_name = kernel_name(family_, result.config);
  result.parameters = named_values(family_, result.config);
  result.compile_ms = setting.compile_ms;
  result.outcome = outcome_of(setting, result.config);
  if (is_ranked(result.outcome)) {
    const LaunchGeometry launch =
        launch_geometry(family_, result.config, file_.problem, file_.device);
    result.dynamic_smem_bytes = launch.dynamic_smem_bytes;
    result.threads_per_block = static_cast<int>(thread_count(launch));
    result.total_flop =
        find_quantity(family_, result.config, file_.problem, file_.device, "total_flop");
  }
  return result;
}

std::vector<Result> results_of(const TuningResults& file, const Reader& reader) {
  std::vector<Result> results;
  std::set<Config> seen;
  for (const TunedSetting& setting : file.settings) {
    Result result = reader.result_of(setting);
    if (seen.insert(result.config).second) {
      results.push_back(std::move(result));
    }
  }
  return results;
}

RunReport header_for(const TuningResults& results, const ForeignFile& file, const Family& family) {
  RunReport run;
  run.command_line = file.command_line;
  run.started_at = std::ranges::min(results.settings, {}, &TunedSetting::timestamp).timestamp;
  run.measured = true;
  run.gpus = 1;
  run.family = family.name;
  run.device = file.device;
  run.imported_from = file.origin;
  return run;
}

}  // namespace

RunReport foreign_run(const TuningResults& results, const ForeignFile& file,
                      const FamilySet& families) {
  const Family& family = family_with(parameters_of(results, file.origin), families, file.origin);
  RunReport run = header_for(results, file, family);
  ProblemReport report;
  report.problem = file.problem;
  sort_into_report(results_of(results, Reader(file, family)), std::nullopt, report);
  report.pruned = std::ranges::count_if(report.failures, [](const Result& result) {
    return std::holds_alternative<Pruned>(result.outcome);
  });
  run.problems.push_back(std::move(report));
  return run;
}

}  // namespace fatune

#include "store/tuning_file.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "model/outcome.hpp"

namespace fatune {
namespace {

/// Reads the time of a kernel, in the file's unit. Error(bad_file), with the node's place, if it is
/// none (model/outcome.hpp).
double read_kernel_time(const JsonNode& node, double us_per_unit) {
  const double us = node.number() * us_per_unit;
  if (!is_kernel_time(us)) {
    node.fail(not_a_kernel_time(us), kernel_times());
  }
  return node.number();
}

/// Reads how long something else took, such as compiling: likewise, but 0 is allowed.
double read_duration(const JsonNode& node, double us_per_unit) {
  const double us = node.number() * us_per_unit;
  if (!(us >= 0.0 && us <= kMostKernelUs)) {
    node.fail(fmt::format("{} us is not a duration", us),
              fmt::format("durations are from 0 to {} us", kMostKernelUs));
  }
  return node.number();
}

constexpr const char* kT4Version = "1.0.0";
constexpr const char* kTime = "time";

Json t4_measurements(const TunedSetting& setting) {
  Json measurements = Json::array();
  if (setting.time_ms) {
    measurements.push_back({{"name", kTime}, {"value", *setting.time_ms}, {"unit", "ms"}});
  }
  return measurements;
}

Json t4_result(const TunedSetting& setting) {
  return {{"timestamp", setting.timestamp},
          {"configuration", setting.configuration},
          {"times", {{"compilation_time", setting.compile_ms}, {"runtimes", setting.runtimes_ms}}},
          {"invalidity", enum_name(setting.validity)},
          {"correctness", setting.validity == Validity::correct ? 1 : 0},
          {"measurements", t4_measurements(setting)},
          {"objectives", Json::array({kTime})}};
}

Json t4_metadata(const TuningResults& results) {
  Json metadata{{"timeunit", "milliseconds"}};
  metadata["hardware"] = {{"operating_system", "Linux"}};
  metadata["hardware"]["hardware_description"] = Json::array({results.device});
  metadata["environment"] = {{"device_query", Json::object()},
                             {"requirements", results.requirements}};
  metadata["fatune"] = results.records;
  return metadata;
}

using UnitRow = std::pair<std::string_view, double>;
constexpr std::array<UnitRow, 9> kMsOfUnit{UnitRow{"milliseconds", 1.0},
                                           {"ms", 1.0},
                                           {"microseconds", 1e-3},
                                           {"us", 1e-3},
                                           {"\xc2\xb5s", 1e-3},
                                           {"nanoseconds", 1e-6},
                                           {"ns", 1e-6},
                                           {"seconds", 1e3},
                                           {"s", 1e3}};

double ms_of(const JsonNode& unit) {
  const std::string text = unit.text();
  const auto* const found = std::ranges::find(kMsOfUnit, text, &UnitRow::first);
  if (found == kMsOfUnit.end()) {
    unit.fail("'" + text + "' is not a unit of time that fatune reads",
              "write milliseconds, microseconds, nanoseconds or seconds");
  }
  return found->second;
}

double file_unit(const JsonNode& file) {
  const auto metadata = file.find("metadata");
  const auto unit = metadata ? metadata->find("timeunit") : std::nullopt;
  return unit ? ms_of(*unit) : 1.0;
}

double read_time_ms(const JsonNode& time, double unit_ms) {
  return read_kernel_time(time, unit_ms * kUsPerMs) * unit_ms;
}

/// The measurement "time". Nothing if it is absent or not a number, as in a failed setting.
std::optional<double> read_time(const JsonNode& result, double unit_ms) {
  for (const JsonNode& measurement : result.elements_of("measurements")) {
    const auto unit = measurement.find("unit");
    if (measurement.at("name").text() == kTime && measurement.at("value").raw().is_number()) {
      return read_time_ms(measurement.at("value"),
                          unit && !unit->text().empty() ? ms_of(*unit) : unit_ms);
    }
  }
  return std::nullopt;
}

/// Kernel Tuner uses another name than the schema.
double read_compile_time(const JsonNode& times, double unit_ms) {
  for (const char* name : {"compilation_time", "compilation"}) {
    if (const auto time = times.find(name)) {
      return read_duration(*time, unit_ms * kUsPerMs) * unit_ms;
    }
  }
  return 0.0;
}

TunedSetting read_result(const JsonNode& result, double unit_ms) {
  const JsonNode times = result.at("times");
  const auto timestamp = result.find("timestamp");
  TunedSetting setting{.configuration = result.at("configuration").raw(),
                       .validity = parse_enum<Validity>(result.at("invalidity").text()),
                       .compile_ms = read_compile_time(times, unit_ms),
                       .timestamp = timestamp ? timestamp->text() : std::string()};
  if (setting.validity == Validity::correct) {  // else the times stand for a failure
    setting.time_ms = read_time(result, unit_ms);
    setting.runtimes_ms = mapped(times.elements_of("runtimes"), [=](const JsonNode& runtime) {
      return read_time_ms(runtime, unit_ms);
    });
  }
  return setting;
}

ExportFormat format_of(const nlohmann::json& file, const std::string& origin) {
  if (file.is_object() && file.contains("results")) {
    return ExportFormat::t4;
  }
  if (file.is_object() && file.contains("cache")) {
    return ExportFormat::kernel_tuner_cache;
  }
  throw Error(ExitCode::bad_file, "it is neither T4 results nor a cache of Kernel Tuner", origin,
              "the former have a member 'results', the latter 'cache'");
}

constexpr const char* kErrorMember = "__error__";
/// The time that former versions wrote for a setting that failed.
constexpr double kFormerErrorTime = 1e20;

using ErrorRow = std::pair<std::string_view, Validity>;
/// Kernel Tuner's names for failures. Those that it cannot tell apart are RuntimeFailedConfig.
constexpr std::array<ErrorRow, 4> kErrors{ErrorRow{"InvalidConfig", Validity::constraints},
                                          {"CompilationFailedConfig", Validity::compile},
                                          {"RuntimeFailedConfig", Validity::runtime},
                                          {"ErrorConfig", Validity::runtime}};

std::string error_name(Validity validity) {
  const auto* const found = std::ranges::find(kErrors, validity, &ErrorRow::second);
  return std::string(found == kErrors.end() ? "RuntimeFailedConfig" : found->first);
}

/// Formats a value as Python prints it. These texts make a setting's key.
std::string python_text(const Json& value) {
  if (value.is_boolean()) {
    return value.get<bool>() ? "True" : "False";
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Json cache_entry(const TunedSetting& setting) {
  Json entry = setting.configuration;
  entry["time"] = setting.time_ms ? Json(*setting.time_ms) : Json(error_name(setting.validity));
  if (!setting.time_ms) {
    entry[kErrorMember] = error_name(setting.validity);
  }
  entry["times"] = setting.runtimes_ms;
  entry["compile_time"] = setting.compile_ms;
  entry["verification_time"] = 0.0;
  entry["benchmark_time"] =
      std::accumulate(setting.runtimes_ms.begin(), setting.runtimes_ms.end(), 0.0);
  entry["strategy_time"] = 0.0;
  entry["framework_time"] = 0.0;
  entry["timestamp"] = setting.timestamp;
  return entry;
}

/// All values of each parameter in the settings, ascending.
Json tune_params(const TuningResults& results) {
  Json params = Json::object();
  for (const TunedSetting& setting : results.settings) {
    for (const auto& [name, value] : setting.configuration.items()) {
      Json& values = params[name];
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        values.push_back(value);
      }
    }
  }
  for (Json& values : params) {
    std::sort(values.begin(), values.end());
  }
  return params;
}

/// The error that any member of an entry names; Validity::correct: there is none.
Validity entry_validity(const JsonNode& entry) {
  for (const nlohmann::json& value : entry.raw()) {
    const auto* const found = std::ranges::find_if(kErrors, [&](const ErrorRow& error) {
      return value.is_string() && value.get_ref<const std::string&>() == error.first;
    });
    if (found != kErrors.end()) {
      return found->second;
    }
  }
  const auto time = entry.find("time");
  return time && time->raw().is_number() && time->number() >= kFormerErrorTime ? Validity::runtime
                                                                               : Validity::correct;
}

TunedSetting read_entry(const JsonNode& entry, const std::vector<std::string>& keys) {
  TunedSetting setting;
  for (const std::string& key : keys) {
    setting.configuration[key] = entry.at(key).raw();
  }
  setting.validity = entry_validity(entry);
  const auto time = entry.find("time");
  if (setting.validity == Validity::correct && time) {
    setting.time_ms = read_kernel_time(*time, kUsPerMs);
    setting.runtimes_ms = mapped(entry.elements_of("times"), [](const JsonNode& one) {
      return read_kernel_time(one, kUsPerMs);
    });
  }
  if (const auto compile = entry.find("compile_time")) {
    setting.compile_ms = read_duration(*compile, kUsPerMs);
  }
  if (const auto timestamp = entry.find("timestamp")) {
    setting.timestamp = timestamp->text();
  }
  return setting;
}

/// The number of braces that are open after the text; -1: it ends within a string.
int open_braces(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      i += c == '\\' ? 1 : 0;
    } else {
      depth += (c == '{' ? 1 : 0) - (c == '}' ? 1 : 0);
    }
  }
  return in_string ? -1 : depth;
}

}  // namespace

Json t4_json(const TuningResults& results) {
  Json json{{"schema_version", kT4Version}, {"metadata", t4_metadata(results)}};
  json["results"] = json_list(results.settings, t4_result);
  return json;
}

TuningResults read_t4(const JsonNode& file) {
  TuningResults results;
  results.settings = mapped(
      file.at("results").elements(),
      [unit_ms = file_unit(file)](const JsonNode& result) { return read_result(result, unit_ms); });
  if (const auto metadata = file.find("metadata"); metadata && metadata->find("fatune")) {
    results.records = metadata->at("fatune").raw();
  }
  return results;
}

std::string tuning_file_text(ExportFormat format, const TuningResults& results) {
  return json_text(format == ExportFormat::t4 ? t4_json(results)
                                              : kernel_tuner_cache_json(results));
}

TuningResults read_tuning_file(std::string_view text, const std::string& origin,
                               std::optional<ExportFormat> format, const FileTree& tree) {
  const nlohmann::json file = parse_json(closed_cache_text(text), origin);
  const bool is_t4 = (format ? *format : format_of(file, origin)) == ExportFormat::t4;
  check_schema(file, tree, is_t4 ? "t4_results" : "kernel_tuner_cache", origin);
  const JsonNode root(file, origin);
  return is_t4 ? read_t4(root) : read_kernel_tuner_cache(root);
}

Json kernel_tuner_cache_json(const TuningResults& results) {
  Json json{{"device_name", results.device_name},
            {"kernel_name", results.kernel_name},
            {"problem_size", results.problem_size}};
  const Json params = tune_params(results);
  json["tune_params_keys"] =
      mapped(params.items(), [](const auto& parameter) { return parameter.key(); });
  json["tune_params"] = params;
  json["objective"] = "time";
  json["fatune"] = results.records;
  json["cache"] = Json::object();
  for (const TunedSetting& setting : results.settings) {
    json["cache"][joined(setting.configuration, ",", python_text)] = cache_entry(setting);
  }
  return json;
}

std::string closed_cache_text(std::string_view text) {
  constexpr int kMostOpen = 2;  // the file's object and its "cache"
  const int open = open_braces(text);
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (open < 1 || open > kMostOpen || end == std::string_view::npos) {
    return std::string(text);
  }
  return std::string(text.substr(0, text[end] == ',' ? end : end + 1)) +
         std::string(static_cast<std::size_t>(open), '}');
}

TuningResults read_kernel_tuner_cache(const JsonNode& file) {
  TuningResults results;
  results.kernel_name = file.at("kernel_name").text();
  results.device_name = file.at("device_name").text();
  const std::vector<std::string> keys =
      mapped(file.at("tune_params_keys").elements(), &JsonNode::text);
  for (const auto& [key, entry] : file.at("cache").members()) {
    results.settings.push_back(read_entry(entry, keys));
  }
  if (const auto records = file.find("fatune")) {
    results.records = records->raw();
  }
  return results;
}

}  // namespace fatune

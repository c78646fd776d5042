#include "exchange/tuning_file.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/ranges.hpp"
#include "data/json_file.hpp"

namespace fatune {
namespace {

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

std::string key_of(const TunedSetting& setting) {
  std::string key;
  for (const Json& value : setting.configuration) {
    key += (key.empty() ? "" : ",") + python_text(value);
  }
  return key;
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
    json["cache"][key_of(setting)] = cache_entry(setting);
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

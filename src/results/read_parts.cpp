#include "results/read_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "core/error.hpp"
#include "core/kernel_time.hpp"
#include "core/outcome_text.hpp"
#include "core/tightest_input.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& what, const std::string& where) {
  throw Error(ExitCode::bad_file, what, where);
}

/// Returns a member, which must be present and not null.
Json& need(Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) {
    fail("is missing", name);
  }
  return *found;
}

/// Takes a member out. Returns null if it is absent or null.
Json take_member(Json& object, const std::string& name) {
  const auto found = object.find(name);
  return found == object.end() ? Json() : std::exchange(*found, Json());
}

std::string text_of(const Json& value, const std::string& name) {
  if (!value.is_string()) {
    fail(fmt::format("is {}, not a string", value.type_name()), name);
  }
  return value.get<std::string>();
}

std::string text_or_empty(Json& object, const std::string& name) {
  const Json value = take_member(object, name);
  return value.is_null() ? std::string() : text_of(value, name);
}

double number_or(const Json& object, const std::string& name, double otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) {
    return otherwise;
  }
  if (!found->is_number()) {
    fail(fmt::format("is {}, not a number", found->type_name()), name);
  }
  return found->get<double>();
}

bool boolean_of(Json& object, const std::string& name) {
  const Json& value = need(object, name);
  if (!value.is_boolean()) {
    fail(fmt::format("is {}, not true or false", value.type_name()), name);
  }
  return value.get<bool>();
}

/// As read_record(), but errors do not mention a record.
template <typename Value>
Value read_like_record(const Json& json, const std::string& name = {}) {
  try {
    return read_record<Value>(json);
  } catch (const Error& error) {
    const std::string& what = error.what_was_wrong();
    const std::size_t prefix = what.find(": ");
    throw Error(error.code(), prefix == std::string::npos ? what : what.substr(prefix + 2),
                name + (name.empty() || error.where().empty() ? "" : ".") + error.where());
  }
}

/// Reads a value from an object with the members of its record. Members that are absent or null
/// keep their defaults.
template <typename Value>
Value read_over_defaults(Json& object, const std::string& name = {}) {
  static const Json defaults = record_json(Value{});
  if (!object.is_object()) {
    fail(fmt::format("is {}, not an object", object.type_name()), name);
  }
  for (const auto& [member, value] : defaults.items()) {
    const auto found = object.find(member);
    if (found == object.end()) {
      object.emplace(member, value);
    } else if (found->is_null()) {
      *found = value;
    }
  }
  return read_like_record<Value>(object, name);
}

template <typename Value>
std::optional<Value> read_optional(Json value, const std::string& name) {
  return value.is_null() ? std::nullopt : std::optional(read_over_defaults<Value>(value, name));
}

/// Checks that all items of a list were objects, which have been taken out of it. The list may be
/// absent.
void check_taken(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end() || (found->is_array() && found->empty())) {
    return;
  }
  fail(found->is_array() ? fmt::format("has {}, not only objects", found->front().type_name())
                         : fmt::format("is {}, not a list", found->type_name()),
       name);
}

int read_repetition(const Json& part) {
  const auto found = part.find("run");
  if (found == part.end()) {
    return 1;
  }
  const double run = found->is_number_integer() ? found->get<double>() : 0.0;
  if (run < 1.0 || run > std::numeric_limits<int>::max()) {
    fail("is not a positive integer", "run");
  }
  return static_cast<int>(run);
}

/// Calls `make` for each item of a list, which may be absent.
template <typename Make>
void for_each_item(Json list, const std::string& name, Make make) {
  if (!list.is_null() && !list.is_array()) {
    fail(fmt::format("is {}, not a list", list.type_name()), name);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    make(list[i], fmt::format("{}.{}", name, i));
  }
}

/// Calls `make` for each pair of a list that JsonPieces has made of an object.
template <typename Make>
void for_each_pair(Json pairs, const std::string& name, Make make) {
  for_each_item(std::move(pairs), name, [&](const Json& pair, const std::string& place) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
      fail(fmt::format("is {}, not a member of an object", pair.type_name()), place);
    }
    const auto key = pair[0].get<std::string>();
    make(key, pair[1], name + "." + key);
  });
}

/// The inverse of emit's json_parameters().
std::vector<NamedValue> read_parameters(Json pairs) {
  std::vector<NamedValue> parameters;
  parameters.reserve(pairs.size());
  for_each_pair(
      std::move(pairs), "parameters",
      [&](const std::string& key, const Json& value, const std::string& place) {
        if (value.is_structured()) {
          fail(fmt::format("is {}, not a value", value.type_name()), place);
        }
        parameters.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
      });
  return parameters;
}

std::vector<CounterValue> read_counters(Json pairs) {
  std::vector<CounterValue> counters;
  for_each_pair(std::move(pairs), "counters",
                [&](const std::string& key, const Json& value, const std::string& place) {
                  if (!value.is_number()) {
                    fail(fmt::format("is {}, not a number", value.type_name()), place);
                  }
                  counters.push_back({key, value.get<double>()});
                });
  return counters;
}

/// Keeps only the figures of the tightest input, because only those are shown.
Verification read_verification(Json part) {
  Verification verification;
  if (part.is_null()) {
    return verification;
  }
  if (!part.is_object()) {
    fail(fmt::format("is {}, not an object", part.type_name()), "verification");
  }
  for_each_item(take_member(part, "inputs"), "verification.inputs",
                [&](Json& input, const std::string& place) {
                  verification.inputs.push_back(read_over_defaults<ErrorStats>(input, place));
                });
  if (!verification.inputs.empty()) {
    verification.inputs = std::vector{tightest_input(verification.inputs)};
  }
  verification.method = text_or_empty(part, "method");
  verification.seed = read_over_defaults<Verification>(part, "verification").seed;
  return verification;
}

double read_time_us(Json& part) {
  need(part, "time_us");
  const double time_us = number_or(part, "time_us", 0.0);
  check_kernel_time(time_us, "time_us");
  return time_us;
}

Measured read_measured(Json& part) {
  const double median_us = read_time_us(part);
  part["median_us"] = median_us;
  for (const char* figure : {"mean_us", "min_us", "max_us", "median_low_us", "median_high_us"}) {
    part[figure] = number_or(part, figure, median_us);  // null: only the median is known
  }
  Measured measured{read_over_defaults<Timing>(part),
                    read_verification(take_member(part, "verification")),
                    read_counters(take_member(part, "counters"))};
  const Json deterministic = take_member(part, "deterministic");
  measured.verification.deterministic = deterministic != Json(false);
  return measured;
}

Estimated read_estimated(Json& part) {
  Estimated estimated;
  estimated.estimate_us = read_time_us(part);
  for_each_item(take_member(part, "estimate_terms"), "estimate_terms",
                [&](Json& term, const std::string& place) {
                  estimated.terms.push_back(
                      {text_of(need(term, "name"), place + ".name"), number_or(term, "us", 0.0)});
                });
  estimated.verification = read_verification(take_member(part, "verification"));
  estimated.not_verified_because = text_or_empty(part, "not_verified_because");
  if (const std::string from = text_or_empty(part, "estimated_from"); !from.empty()) {
    estimated.from = parse_estimate_source(from);
  }
  return estimated;
}

Outcome read_outcome(Json& part) {
  const std::string name = text_of(need(part, "outcome"), "outcome");
  if (name == outcome_name(OutcomeKind::measured)) {
    Outcome measured = read_measured(part);
    check_kernel_times(measured);
    return measured;
  }
  if (name == outcome_name(OutcomeKind::estimated)) {
    return read_estimated(part);
  }
  Outcome outcome = read_failure(name, text_or_empty(part, "detail"));
  Json verification = take_member(part, "verification");
  if (auto* wrong = std::get_if<WrongResult>(&outcome)) {
    wrong->verification = read_verification(std::move(verification));
  } else if (auto* flagged = std::get_if<Flagged>(&outcome)) {
    flagged->verification = read_verification(std::move(verification));
  }
  return outcome;
}

/// Computes the FLOP from the rate, because outputs have only the rate.
std::optional<double> read_total_flop(const Json& part, const Outcome& outcome) {
  const double tflops = number_or(part, "total_tflops", 0.0);
  return tflops > 0.0 && is_ranked(outcome)
             ? std::optional(std::round(tflops * ranked_us(outcome) / kFlopPerUsToTflops))
             : std::nullopt;
}

std::optional<MatmulRate> read_matmul(const Json& part) {
  const double tflops = number_or(part, "matmul_tflops", 0.0);
  return tflops > 0.0 ? std::optional(MatmulRate{tflops, number_or(part, "matmul_sm_mhz", 0.0)})
                      : std::nullopt;
}

/// Records hold the unusual properties of a problem in an object of its own.
Problem read_problem_of(Json part) {
  if (!part.is_object()) {
    fail(fmt::format("is {}, not an object", part.type_name()), "problem");
  }
  std::erase_if(part.get_ref<Json::object_t&>(),
                [](const auto& member) { return member.second.is_null(); });
  part["details"] = part;
  return read_like_record<Problem>(part, "problem");
}

Toolchain read_toolchain(Json part) {
  if (!part.is_object()) {
    fail(fmt::format("is {}, not an object", part.type_name()), "toolchain");
  }
  return {text_or_empty(part, "fatune"), text_or_empty(part, "nvrtc"),
          text_or_empty(part, "driver_cuda"), text_or_empty(part, "driver")};
}

std::optional<GpuConditions> read_conditions(Json part) {
  std::vector<GpuReading> timeline;
  if (part.is_object()) {
    for_each_item(take_member(part, "timeline"), "timeline",
                  [&](Json& reading, const std::string& place) {
                    timeline.push_back(read_over_defaults<GpuReading>(reading, place));
                  });
  }
  auto conditions = read_optional<GpuConditions>(std::move(part), "conditions");
  if (conditions) {
    conditions->timeline = std::move(timeline);
  }
  return conditions;
}

}  // namespace

Result read_result(Json& part) {
  const std::string short_form = text_of(need(part, "config"), "config");
  const std::string family = text_or_empty(part, "family");
  std::vector<NamedValue> parameters = read_parameters(take_member(part, "parameters"));
  Outcome outcome = read_outcome(part);
  const bool compiled = !part.value("registers_per_thread", Json()).is_null();
  std::optional<ResourceFacts> facts =
      compiled ? std::optional(read_over_defaults<ResourceFacts>(part)) : std::nullopt;
  for (const char* other : {"config", "outcome"}) {  // unlike in records
    part[other] = Json();
  }
  Result result = read_over_defaults<Result>(part);
  result.config.family = family;
  result.short_form = short_form;
  result.parameters = std::move(parameters);
  result.facts = std::move(facts);
  result.total_flop = read_total_flop(part, outcome);
  result.outcome = std::move(outcome);
  return result;
}

ProblemReport read_problem_report(Json& part, ProblemResults results) {
  need(part, part.contains("winner") ? "runners_up" : "ranking");
  for (const char* list : {"ranking", "runners_up", "failures", "audited"}) {
    check_taken(part, list);
  }
  const Problem problem = read_problem_of(take_member(part, "problem"));
  std::optional<MatmulRate> matmul = read_matmul(part);
  std::vector<RuleAudit> audit;
  for_each_item(take_member(part, "audit"), "audit", [&](Json& rule, const std::string& place) {
    audit.push_back(read_over_defaults<RuleAudit>(rule, place));
  });
  auto measuring = read_optional<MeasuringSummary>(take_member(part, "measuring"), "measuring");
  auto conditions = read_conditions(take_member(part, "conditions"));
  ProblemReport report = read_over_defaults<ProblemReport>(part);
  report.problem = problem;
  report.run = read_repetition(part);
  report.measuring = std::move(measuring);
  report.conditions = std::move(conditions);
  report.matmul = matmul;
  report.audit = std::move(audit);
  report.ranking = std::move(results.ranking);
  report.failures = std::move(results.failures);
  report.audited = std::move(results.audited);
  return report;
}

DeviceLimits read_device(Json& part) {
  Json& device = need(part, "device");
  if (device.is_object() && !device.contains("arch")) {
    fail("is missing", "device.arch");
  }
  return read_over_defaults<DeviceLimits>(device, "device");
}

RunReport read_run(Json part, const DeviceLimits& device) {
  check_taken(part, "problems");
  const bool measured = boolean_of(part, "measured");
  const bool complete = boolean_of(part, "complete");
  const Toolchain toolchain = read_toolchain(take_member(part, "toolchain"));
  auto policy = read_optional<MeasurePolicy>(take_member(part, "policy"), "policy");
  part["device"] = record_json(device);
  part["gpus"] = take_member(part, "gpus_used");
  const std::string shard = text_or_empty(part, "shard");
  RunReport run = read_over_defaults<RunReport>(part);
  run.shard = shard.empty() ? std::nullopt : std::optional(parse_shard(shard));
  run.measured = measured;
  run.complete = complete;
  run.toolchain = toolchain;
  run.policy = policy.value_or(MeasurePolicy{});
  run.busy_s = number_or(part, "gpu_busy_percent", 0.0) / 100.0 * run.wall_s * run.gpus;
  return run;
}

}  // namespace fatune

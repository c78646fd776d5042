// The functions of planner.hpp that turn a configuration into what is compiled and launched.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

[[noreturn]] void fail_at(const Family& family, const std::string& pointer,
                          const std::string& what) {
  throw Error(ExitCode::bad_file, what, fmt::format("{}: {}", family.file, pointer));
}

// The extent of a tile, in rows or keys.
std::int64_t tile_extent(const Family& family, const Expression& value,
                         const std::vector<double>& scope, const char* name) {
  constexpr std::int64_t kMaxTile = 65536;
  const std::int64_t extent = value.integer(scope);
  if (extent < 1 || extent > kMaxTile) {
    fail_at(family, std::string("/debug/") + name,
            fmt::format("\"{}\" gives {}, outside 1 to {}", value.text(), extent, kMaxTile));
  }
  return extent;
}

void add_parameter_defines(const Family& family, const std::string& prefix, const Config& config,
                           CompileRequest& request) {
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    request.defines.emplace_back(prefix + family.parameters[i].name,
                                 std::to_string(config.values[i]));
  }
}

std::string define_text(const Family& family, const Define::Value& value,
                        const std::vector<double>& scope) {
  if (const auto* number = std::get_if<Expression>(&value)) {
    return std::to_string(number->integer(scope));
  }
  const auto* text = std::get_if<Reason>(&value);
  return text == nullptr ? "1" : text->render(scope, family.parameters);
}

void add_defines(const Family& family, const std::vector<double>& scope, CompileRequest& request) {
  for (const Define& define : family.defines) {
    if (const Define::Value* value = define.value.find(scope)) {
      request.defines.emplace_back(define.name, define_text(family, *value, scope));
    }
  }
}

void add_options(const Family& family, const std::vector<double>& scope, CompileRequest& request) {
  for (const Choice<std::string>& option : family.options) {
    if (const std::string* text = option.find(scope)) {
      request.options.push_back(*text);
    }
  }
}

}  // namespace

CompileRequest compile_request(const Family& family, const Config& config, const Problem& problem,
                               Arch arch, const DeviceLimits& limits) {
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  CompileRequest request;
  request.label = short_form(family, config);
  request.sources = family.sources.of(scope);
  const EntryPoint& entry = family.entry.of(scope);
  request.entry_is_template = entry.is_template;
  request.entry_point = entry.is_template ? kernel_name(family, config) : entry.name;
  request.arch = arch;
  add_options(family, scope, request);
  add_defines(family, scope, request);
  if (entry.parameter_defines) {
    add_parameter_defines(family, *entry.parameter_defines, config, request);
  }
  return request;
}

CompileRequest dump_request(const Family& family, const Config& config, const Problem& problem,
                            Arch arch, const DeviceLimits& limits) {
  CompileRequest request = compile_request(family, config, problem, arch, limits);
  request.defines.emplace_back(family.debug.value().define, "1");
  return request;
}

std::optional<BlockTiles> block_tiles(const Family& family, const Config& config) {
  if (!family.debug) {
    return std::nullopt;
  }
  const std::vector<double> scope = make_scope(family, config, nullptr, nullptr);
  const DebugRule& rule = *family.debug;
  const double slack = rule.reference_slack_log2.number(scope);
  if (slack < 0.0) {
    fail_at(family, "/debug/reference_slack_log2",
            fmt::format("\"{}\" gives {}; M never exceeds the greatest score",
                        rule.reference_slack_log2.text(), slack));
  }
  return BlockTiles{tile_extent(family, rule.query_rows, scope, "query_rows"),
                    tile_extent(family, rule.keys_per_step, scope, "keys_per_step"), rule.order,
                    slack};
}

}  // namespace fatune

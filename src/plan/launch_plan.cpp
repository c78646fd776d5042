// The functions of planner.hpp that turn a configuration into what is compiled and launched.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/kernel_name.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "plan/short_form.hpp"

namespace fatune {
namespace {

// CUDA's limits for gridDim and blockDim.
constexpr std::array<std::int64_t, 3> kMaxGrid{2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> kMaxBlock{1024, 1024, 64};
// Clusters of more than eight blocks need a kernel that allows them.
constexpr std::array<std::int64_t, 3> kMaxCluster{16, 16, 16};

[[noreturn]] void fail_at(const Family& family, const std::string& pointer,
                          const std::string& what) {
  throw Error(ExitCode::bad_file, what, fmt::format("{}: {}", family.file, pointer));
}

[[noreturn]] void fail_launch(const Family& family, const std::string& part,
                              const std::string& what) {
  fail_at(family, "/launch/" + part, what);
}

std::array<std::int64_t, 3> extent(const Family& family, const std::array<Expression, 3>& xyz,
                                   const std::vector<double>& scope, const std::string& part,
                                   const std::array<std::int64_t, 3>& greatest) {
  std::array<std::int64_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    values[i] = xyz[i].integer(scope);
    if (values[i] < 1 || values[i] > greatest[i]) {
      fail_value(
          xyz[i], values[i] < 1 ? Misfit::other : Misfit::too_great,
          fmt::format("\"{}\" gives {}, outside 1 to {}", xyz[i].text(), values[i], greatest[i]),
          fmt::format("{}: /launch/{}/{}", family.file, part, i));
    }
  }
  return values;
}

/// Returns at least 1. A kernel that fits no SM is detected elsewhere.
int resident_blocks(const LaunchGeometry& launch, const DeviceLimits& limits,
                    const ResourceFacts* facts) {
  if (facts == nullptr) {
    return 1;
  }
  const auto threads = static_cast<int>(thread_count(launch));
  return std::max(1, blocks_per_sm(limits, threads, facts->registers_per_thread,
                                   launch.dynamic_smem_bytes + facts->static_smem_bytes));
}

void add_cluster(const Family& family, const std::vector<double>& scope, LaunchGeometry& launch) {
  if (!family.launch.cluster) {
    return;
  }
  launch.cluster = extent(family, *family.launch.cluster, scope, "cluster", kMaxCluster);
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid[i] % launch.cluster[i] != 0) {
      fail_launch(family, fmt::format("cluster/{}", i),
                  fmt::format("clusters of {} blocks do not divide a grid of {}", launch.cluster[i],
                              launch.grid[i]));
    }
  }
}

LaunchAttributes attributes_of(const Family& family, const std::vector<double>& scope) {
  const LaunchRule& rule = family.launch;
  LaunchAttributes attributes;
  attributes.cooperative = rule.cooperative && rule.cooperative->holds(scope);
  attributes.programmatic_stream_serialization =
      rule.programmatic_stream_serialization &&
      rule.programmatic_stream_serialization->holds(scope);
  if (rule.smem_carveout_percent) {
    attributes.smem_carveout_percent = rule.smem_carveout_percent->integer(scope);
    if (attributes.smem_carveout_percent < -1 || attributes.smem_carveout_percent > 100) {
      fail_launch(family, "attributes/smem_carveout_percent",
                  fmt::format("gives {}, outside -1 to 100", attributes.smem_carveout_percent));
    }
  }
  return attributes;
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

LaunchGeometry launch_geometry(const Family& family, const Config& config, const Problem& problem,
                               const DeviceLimits& limits, const ResourceFacts* facts) {
  std::vector<double> scope = make_scope(family, config, &problem, &limits);
  LaunchGeometry launch;
  launch.block = extent(family, family.launch.block, scope, "block", kMaxBlock);
  launch.dynamic_smem_bytes = family.launch.dynamic_smem_bytes.integer(scope);
  if (launch.dynamic_smem_bytes < 0) {
    fail_launch(family, "dynamic_smem_bytes",
                fmt::format("gives {} bytes", launch.dynamic_smem_bytes));
  }
  // The family may have a quantity of its own with this name, whose value stays.
  double& resident = scope[family.symbols.find(kResidentBlocks).value()];
  if (std::isnan(resident)) {
    resident = resident_blocks(launch, limits, facts);
  }
  launch.grid = extent(family, family.launch.grid, scope, "grid", kMaxGrid);
  add_cluster(family, scope, launch);
  launch.attributes = attributes_of(family, scope);
  launch.arguments = resolve(family.arguments, scope, problem);
  return launch;
}

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

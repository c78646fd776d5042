// The functions of planner.hpp that turn a configuration into what is compiled and launched. A
// launch is evaluated with the code that exported libraries run too.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "model/cpu_reference.hpp"
#include "model/head_problem.hpp"
#include "model/kernel_code.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "runtime/launch_builder.hpp"

namespace fatune {
namespace {

namespace runtime = fatune_attention::detail;

using Call = LaunchCall;
using Scope = std::span<const double>;

std::array<std::int64_t, 3> extents(const runtime::Dim3& of) { return {of.x, of.y, of.z}; }

/// Integers are exact, and say what is wrong with them.
double value_of(Call call, const Expression& of, Scope scope) {
  switch (call) {
    case Call::cooperative:
    case Call::programmatic_stream_serialization:
    case Call::boolean:
      return of.holds(scope) ? 1.0 : 0.0;
    case Call::float32:
    case Call::float64:
    case Call::float32_or_infinity:
    case Call::float64_or_infinity:
      return of.number_or_infinity(scope);
    default:
      return static_cast<double>(of.integer(scope));
  }
}

/// Row values are compared, so it must be known where the value of each row is.
void check_row_values(const BufferRule& rule, const KernelBuffer& buffer, const Problem& problem) {
  const std::vector<std::int64_t> rows = row_value_shape(problem);
  std::vector<std::int64_t> shape = buffer.shape;
  while (shape.size() > rows.size() && shape.back() == 1) {
    shape.pop_back();
  }
  if (find_enum<RowValue>(rule.output) && (rule.element_type != "float32" || shape != rows)) {
    throw Error(ExitCode::bad_file,
                fmt::format("'{}' is {}, with {} {}", rule.name, rule.output,
                            fmt::join(buffer.shape, " x "), rule.element_type),
                rule.where,
                fmt::format("one float32 for each row: batch x heads x seq_len, here {}; or say "
                            "that it is unchecked",
                            fmt::join(rows, " x ")));
  }
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

bool is_passed(const KernelArguments& arguments, const std::string& tensor) {
  return std::ranges::any_of(arguments.list, [&](const KernelArgument& argument) {
    return std::ranges::count(argument.addresses, tensor, &AddressPiece::tensor) > 0 ||
           std::ranges::count(argument.tensor_maps, tensor, &TensorMapPiece::tensor) > 0;
  });
}

/// Describes a launch to a LaunchBuilder, and keeps what its arguments are made of.
class Launching {
 public:
  Launching(const ArgumentRules& rules, const std::vector<double>& scope)
      : rules_(rules), scope_(scope) {}

  void add(const LaunchStep& step) {
    if (step.when && !step.when->holds(scope_)) {
      return;
    }
    values_.clear();
    for (const Expression& value : step.values) {
      values_.push_back(value_of(step.call, value, scope_));
    }
    const int item = builder_.arguments().item_count();
    builder_.add(step.call, values_.data(), static_cast<int>(values_.size()),
                 static_cast<runtime::Operand>(step.tensor));
    if (!builder_.ok()) {
      fail(step.values, step.where);
    }
    add_piece(step, item);
  }

  void add_buffer(const BufferRule& rule, const Problem& problem) {
    KernelBuffer buffer;
    buffer.name = rule.name;
    buffer.output = rule.output;
    buffer.element_type = rule.element_type;
    buffer.clear = rule.clear;
    buffer.shape = mapped(rule.shape, [&](const Expression& one) { return one.integer(scope_); });
    buffer.bytes = rule.bytes.integer(scope_);
    const std::int64_t word = rule.initial_word.integer(scope_);
    builder_.workspace(static_cast<double>(buffer.bytes), static_cast<double>(word),
                       runtime::Clear::none);
    if (!builder_.ok()) {
      fail({rule.bytes, rule.initial_word}, rule.where);
    }
    buffer.word = static_cast<std::uint32_t>(word);
    check_row_values(rule, buffer, problem);
    arguments_.buffers.push_back(std::move(buffer));
  }

  /// Without the arguments.
  [[nodiscard]] LaunchGeometry geometry() const {
    const runtime::LaunchShape& shape = builder_.shape();
    LaunchGeometry launch;
    launch.grid = extents(shape.grid);
    launch.block = extents(shape.block);
    launch.cluster = extents(shape.cluster);
    launch.dynamic_smem_bytes = shape.dynamic_smem_bytes;
    launch.attributes = {shape.cooperative, shape.programmatic_stream_serialization,
                         shape.smem_carveout_percent};
    return launch;
  }
  [[nodiscard]] KernelArguments take_arguments() { return std::move(arguments_); }

 private:
  /// Says why the builder has failed.
  [[noreturn]] void fail(const std::vector<Expression>& values, const std::string& where) const {
    const runtime::LaunchFailure& failure = builder_.details();
    if (failure.value < 0) {
      throw Error(ExitCode::bad_file, builder_.failure(), where);
    }
    const Expression& of = values.at(static_cast<std::size_t>(failure.value));
    const double value = of.number(scope_);
    const bool is_outside = value < failure.least || value > failure.most;
    fail_value(of, value > failure.most,
               fmt::format(
                   "\"{}\" gives {}{}: {}{}", of.text(), value,
                   is_outside ? fmt::format(", outside {} to {}", failure.least, failure.most) : "",
                   failure.what, is_outside ? "" : fmt::format(", here {}", failure.most)));
  }

  /// Until its argument ends, the offset of a piece is the index of its item.
  void add_piece(const LaunchStep& step, std::int64_t item) {
    if (step.call == Call::begin_argument) {
      argument_ = {};
      argument_.pointer = rules_.standard ? "/abi" : step.pointer;
    } else if (step.call == Call::end_argument) {
      end_argument();
    } else if (step.scalar != nullptr) {
      argument_.scalars.push_back({item, step.scalar->bytes, 0, std::string(step.scalar->name)});
    } else if (step.call == Call::address) {
      argument_.addresses.push_back({item, rules_.tensor_name(step.tensor), byte_offset()});
    } else if (step.call == Call::tensor_map) {
      argument_.tensor_maps.push_back(map_piece(step, item));
    }
  }

  [[nodiscard]] std::int64_t byte_offset() const { return static_cast<std::int64_t>(values_[0]); }

  [[nodiscard]] TensorMapPiece map_piece(const LaunchStep& step, std::int64_t item) const {
    auto next = values_.begin() + 1;
    const auto name = [&](std::span<const std::string_view> names) {
      return std::string(names[static_cast<std::size_t>(*next++)]);
    };
    const auto numbers = [&](std::size_t count) {
      const auto first = std::exchange(next, next + static_cast<std::ptrdiff_t>(count));
      return std::vector<std::int64_t>(first, next);
    };
    TensorMapPiece piece;
    piece.offset = item;
    piece.tensor = rules_.tensor_name(step.tensor);
    piece.byte_offset = byte_offset();
    piece.element_type = name(kTensorMapElementTypes);
    piece.interleave = name(kTensorMapInterleaves);
    piece.swizzle = name(kTensorMapSwizzles);
    piece.l2_promotion = name(kTensorMapL2Promotions);
    piece.oob_fill = name(kTensorMapOobFills);
    const auto rank = static_cast<std::size_t>(values_.end() - next + 1) / 4;
    piece.sizes = numbers(rank);
    piece.strides_bytes = numbers(rank - 1);
    piece.box = numbers(rank);
    piece.element_strides = numbers(rank);
    return piece;
  }

  /// An argument is left out if all its items are.
  void end_argument() {
    const runtime::ArgumentLayout& layout = builder_.arguments();
    if (layout.count() == static_cast<int>(arguments_.list.size())) {
      return;
    }
    const auto& placed = layout.argument(layout.count() - 1);
    const auto place = [&](auto& pieces) {
      for (auto& piece : pieces) {
        piece.offset = static_cast<std::int64_t>(
            layout.item_offset(static_cast<int>(piece.offset)) - placed.offset);
      }
    };
    place(argument_.scalars);
    place(argument_.addresses);
    place(argument_.tensor_maps);
    for (ScalarPiece& scalar : argument_.scalars) {
      std::memcpy(&scalar.bits, layout.data() + placed.offset + scalar.offset,
                  static_cast<std::size_t>(scalar.bytes));
    }
    argument_.bytes = static_cast<std::int64_t>(placed.bytes);
    argument_.alignment = static_cast<std::int64_t>(placed.alignment);
    arguments_.list.push_back(std::move(argument_));
  }

  const ArgumentRules& rules_;
  const std::vector<double>& scope_;
  runtime::LaunchBuilder builder_;
  std::vector<double> values_;  ///< of the last step
  KernelArgument argument_;     ///< the one that has begun
  KernelArguments arguments_{rules_.standard, {}, {}};
};

[[noreturn]] void fail_at(const Family& family, const std::string& pointer,
                          const std::string& what) {
  throw Error(ExitCode::bad_file, what, fmt::format("{}: {}", family.file, pointer));
}

// An extent of tiles or of problems for debugging, in rows, keys or steps.
std::int64_t debug_extent(const Family& family, const Expression& value,
                          const std::vector<double>& scope, const char* name) {
  constexpr std::int64_t kMost = 65536;
  const std::int64_t extent = value.integer(scope);
  if (extent < 1 || extent > kMost) {
    fail_at(family, std::string("/debug/") + name,
            fmt::format("\"{}\" gives {}, outside 1 to {}", value.text(), extent, kMost));
  }
  return extent;
}

std::optional<std::int64_t> debug_extent(const Family& family,
                                         const std::optional<Expression>& value,
                                         const std::vector<double>& scope, const char* name) {
  return value ? std::optional(debug_extent(family, *value, scope, name)) : std::nullopt;
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

LaunchGeometry launch_geometry(const ConfigCase& of, const ResourceFacts* facts) {
  const Family& family = of.family;
  std::vector<double> scope = make_scope(of);
  Launching launching(family.arguments, scope);
  for (const LaunchStep& step : family.launch) {
    // The family may have a quantity of its own with this name, whose value stays.
    double& resident = scope[family.symbols.find(kResidentBlocks).value()];
    if (step.call == Call::grid && std::isnan(resident)) {
      resident = resident_blocks(launching.geometry(), of.limits, facts);
    }
    launching.add(step);
  }
  for (const BufferRule& rule : family.arguments.buffers) {
    launching.add_buffer(rule, of.problem);
  }
  for (const LaunchStep& step : family.arguments.steps) {
    launching.add(step);
  }
  LaunchGeometry launch = launching.geometry();
  launch.arguments = launching.take_arguments();
  if (const KernelBuffer lse = log_sum_exp_buffer(of.problem);
      is_passed(launch.arguments, lse.name)) {
    launch.arguments.buffers.push_back(lse);
  }
  return launch;
}

CompileRequest compile_request(const ConfigCase& of) {
  const auto& [family, config, problem, limits] = of;
  const std::vector<double> scope = make_scope(of);
  CompileRequest request;
  request.label = short_form(family, config);
  request.sources = family.sources.of(scope);
  const EntryPoint& entry = family.entry.of(scope);
  request.entry_is_template = entry.is_template;
  request.entry_point = entry.is_template ? kernel_name(family, config) : entry.name;
  request.arch = limits.arch;
  add_options(family, scope, request);
  add_defines(family, scope, request);
  if (entry.parameter_defines) {
    add_parameter_defines(family, *entry.parameter_defines, config, request);
  }
  return request;
}

CompileRequest dump_request(const ConfigCase& of) {
  CompileRequest request = compile_request(of);
  request.defines.emplace_back(of.family.debug.value().define, "1");
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
  return BlockTiles{debug_extent(family, rule.query_rows, scope, "query_rows"),
                    debug_extent(family, rule.keys_per_step, scope, "keys_per_step"), rule.order,
                    slack,
                    debug_extent(family, rule.steps_per_part, scope, "steps_per_part").value_or(0)};
}

std::optional<std::int64_t> usual_d_head_v(const Family& family, const Config& config) {
  if (!family.usual_d_head_v) {
    return std::nullopt;
  }
  const std::int64_t usual =
      family.usual_d_head_v->integer(make_scope(family, config, nullptr, nullptr));
  if (usual < 1 || usual > kMostHeadDim) {
    fail_at(family, "/usual_d_head_v",
            fmt::format("\"{}\" gives {}, outside 1 to {}", family.usual_d_head_v->text(), usual,
                        kMostHeadDim));
  }
  return usual;
}

bool usual_latent(const Family& family, const Config& config) {
  return family.usual_latent &&
         family.usual_latent->number(make_scope(family, config, nullptr, nullptr)) != 0.0;
}

DebugLengths debug_lengths(const Family& family, const Config& config) {
  if (!family.debug) {
    return {};
  }
  const std::vector<double> scope = make_scope(family, config, nullptr, nullptr);
  return {debug_extent(family, family.debug->queries, scope, "queries"),
          debug_extent(family, family.debug->keys, scope, "keys")};
}

}  // namespace fatune

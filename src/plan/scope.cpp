#include "plan/scope.hpp"

#include <limits>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "plan/parameter.hpp"

namespace fatune {
namespace {

constexpr std::string_view kKvDTypeSymbol = "kv_dtype";

/// Calls use_number(name, value) for every symbol of a problem.
template <typename Use>
void for_each_problem_symbol(const Problem& problem, Use use_number) {
  const auto use = [&](const std::string& name, auto value) {
    use_number(name, static_cast<double>(value));
  };
  use("batch", problem.batch);
  use("seq_len", problem.seq_len);
  use("heads", problem.heads);
  use("causal", problem.causal);
  use(std::string(kDTypeSymbol), problem.dtype);
  use("d_head", problem.d_head);
  use("keys_total", total_keys(problem));
  use("queries_total", total_queries(problem));
  for (const ProblemDetail& detail : kProblemDetails) {
    use(std::string(detail.symbol), detail.get(problem));
  }
  for (const TensorRole role : kTensorRoles) {
    const std::string tensor(1, "qkvo"[static_cast<std::size_t>(role)]);
    const TensorShape shape = tensor_shape(problem, role);
    use(tensor + "_row_stride", shape.row_stride);
    use(tensor + "_head_stride", shape.head_stride);
    use(tensor + "_batch_stride", shape.batch_stride);
  }
  use("pool_pages", has_pages(problem) ? pool_pages(problem) : 0);
  use("scale_block", scale_block(problem));
}

/// Calls use(name, value) for every symbol of a device.
template <typename Use>
void for_each_device_symbol(const DeviceLimits& limits, Use use) {
  use("arch", limits.arch.sm);
  use("sm_count", limits.sm_count);
  use("smem_per_sm_bytes", static_cast<double>(limits.smem_per_sm_bytes));
  use("smem_per_block_optin_bytes", static_cast<double>(limits.smem_per_block_optin_bytes));
  use("registers_per_sm", limits.registers_per_sm);
  use("max_threads_per_sm", limits.max_threads_per_sm);
}

}  // namespace

void add_environment_symbols(SymbolTable& symbols) {
  for_each_problem_symbol({1, 1, 1, 1}, [&](const std::string& name, double) {
    // If these are parameters, the configuration gives their values.
    const bool may_be_parameter = name == kDTypeSymbol || name == "d_head" || name == "d_head_v";
    if (!may_be_parameter || !symbols.find(name)) {
      const bool is_kv_dtype = name == kKvDTypeSymbol;
      symbols.add(name, {.problem = !is_kv_dtype, .kv_dtype = is_kv_dtype});
    }
  });
  for_each_device_symbol(
      {}, [&](const std::string& name, double) { symbols.add(name, {.device = true}); });
}

bool is_meant_for(const Family& family, const Problem& problem) {
  if (!family.meant_for) {
    return true;
  }
  std::vector<double> values;
  for_each_problem_symbol(problem,
                          [&](const std::string&, double value) { values.push_back(value); });
  return family.meant_for->holds(values);
}

void add_occupancy_symbol(SymbolTable& symbols) {
  if (!symbols.find(kResidentBlocks)) {
    symbols.add(kResidentBlocks, {.problem = true, .device = true});
  }
}

std::vector<double> make_scope(const Family& family, const Config& config, const Problem* problem,
                               const DeviceLimits* limits, std::optional<DType> kv_dtype) {
  std::vector<double> scope(family.symbols.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    scope[i] = static_cast<double>(config.values.at(i));
  }
  // A parameter of that name keeps the configuration's value.
  const auto fill = [&](const std::string& name, double value) {
    const std::size_t symbol = family.symbols.find(name).value();
    if (symbol >= family.parameters.size()) {
      scope[symbol] = value;
    }
  };
  if (problem != nullptr) {
    for_each_problem_symbol(*problem, fill);
  } else if (kv_dtype) {
    fill(std::string(kKvDTypeSymbol), static_cast<double>(*kv_dtype));
  }
  if (limits != nullptr) {
    for_each_device_symbol(*limits, fill);
  }
  const Needs known{
      .problem = problem != nullptr, .device = limits != nullptr, .kv_dtype = kv_dtype.has_value()};
  for (const Derived& derived : family.derived) {
    if (derived.value.needs().within(known)) {
      scope[derived.symbol] = derived.value.number(scope);
    }
  }
  return scope;
}

std::string read_identifier(const JsonNode& node) {
  std::string text = node.text();
  if (!is_identifier(text)) {
    node.fail(fmt::format("'{}' is not an identifier", text),
              "use a letter or underscore, then letters, digits and underscores, at most 64");
  }
  return text;
}

std::size_t add_symbol(SymbolTable& symbols, const JsonNode& node, Needs needs) {
  try {
    return symbols.add(read_identifier(node), needs);
  } catch (const std::invalid_argument& error) {
    node.fail(error.what(),
              "each parameter, problem and device property and derived quantity "
              "needs a name of its own");
  }
}

std::vector<Derived> read_derived(const std::vector<JsonNode>& list, SymbolTable& symbols) {
  std::vector<Derived> derived;
  for (const JsonNode& node : list) {
    Expression value(node.at("value"), symbols);
    const std::size_t symbol = add_symbol(symbols, node.at("name"), value.needs());
    derived.push_back({symbols.name(symbol), node.at("unit").text(), node.at("doc").text(), symbol,
                       std::move(value)});
  }
  return derived;
}

}  // namespace fatune

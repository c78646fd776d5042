#include "plan/scope.hpp"

#include <array>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "model/kv_lengths.hpp"
#include "plan/parameter.hpp"

namespace fatune {
namespace {

template <class Source>
struct Property {
  const char* name;
  double (*value)(const Source&);
};

constexpr std::array<Property<Problem>, 7> kProblemProperties{{
    {"batch", [](const Problem& p) { return static_cast<double>(p.batch); }},
    {"seq_len", [](const Problem& p) { return static_cast<double>(p.seq_len); }},
    {"heads", [](const Problem& p) { return static_cast<double>(p.heads); }},
    {"causal", [](const Problem& p) { return p.causal ? 1.0 : 0.0; }},
    {kDTypeSymbol.data(), [](const Problem& p) { return static_cast<double>(p.dtype); }},
    {"d_head", [](const Problem& p) { return static_cast<double>(p.d_head); }},
    {"keys_total", [](const Problem& p) { return static_cast<double>(total_keys(p)); }},
}};

/// A stride of a tensor, in elements: "q_row_stride", ...
struct Stride {
  const char* name;
  TensorRole role;
  std::int64_t TensorShape::*member;
};

constexpr std::array<Stride, 12> kStrides{{
    {"q_row_stride", TensorRole::q, &TensorShape::row_stride},
    {"q_head_stride", TensorRole::q, &TensorShape::head_stride},
    {"q_batch_stride", TensorRole::q, &TensorShape::batch_stride},
    {"k_row_stride", TensorRole::k, &TensorShape::row_stride},
    {"k_head_stride", TensorRole::k, &TensorShape::head_stride},
    {"k_batch_stride", TensorRole::k, &TensorShape::batch_stride},
    {"v_row_stride", TensorRole::v, &TensorShape::row_stride},
    {"v_head_stride", TensorRole::v, &TensorShape::head_stride},
    {"v_batch_stride", TensorRole::v, &TensorShape::batch_stride},
    {"o_row_stride", TensorRole::o, &TensorShape::row_stride},
    {"o_head_stride", TensorRole::o, &TensorShape::head_stride},
    {"o_batch_stride", TensorRole::o, &TensorShape::batch_stride},
}};

constexpr std::array<Property<DeviceLimits>, 6> kDeviceProperties{{
    {"arch", [](const DeviceLimits& d) { return static_cast<double>(d.arch.sm); }},
    {"sm_count", [](const DeviceLimits& d) { return static_cast<double>(d.sm_count); }},
    {"smem_per_sm_bytes",
     [](const DeviceLimits& d) { return static_cast<double>(d.smem_per_sm_bytes); }},
    {"smem_per_block_optin_bytes",
     [](const DeviceLimits& d) { return static_cast<double>(d.smem_per_block_optin_bytes); }},
    {"registers_per_sm",
     [](const DeviceLimits& d) { return static_cast<double>(d.registers_per_sm); }},
    {"max_threads_per_sm",
     [](const DeviceLimits& d) { return static_cast<double>(d.max_threads_per_sm); }},
}};

/// Calls use(name, value) for every symbol of a problem.
template <typename Use>
void for_each_problem_symbol(const Problem& problem, Use use) {
  for (const auto& property : kProblemProperties) {
    use(std::string(property.name), property.value(problem));
  }
  for (const ProblemDetail& detail : kProblemDetails) {
    use(std::string(detail.symbol), detail.get(problem));
  }
  for (const Stride& stride : kStrides) {
    const TensorShape shape = tensor_shape(problem, stride.role);
    use(std::string(stride.name), static_cast<double>(shape.*stride.member));
  }
}

/// Sets a symbol's value, but a parameter of that name keeps the configuration's value.
void fill(std::vector<double>& scope, const Family& family, const std::string& name, double value) {
  const std::size_t symbol = family.symbols.find(name).value();
  if (symbol >= family.parameters.size()) {
    scope[symbol] = value;
  }
}

}  // namespace

void add_environment_symbols(SymbolTable& symbols) {
  for_each_problem_symbol({1, 1, 1, 1}, [&](const std::string& name, double) {
    // If these are parameters, the configuration gives their values.
    const bool may_be_parameter = name == kDTypeSymbol || name == "d_head" || name == "d_head_v";
    if (!may_be_parameter || !symbols.find(name)) {
      symbols.add(name, {.problem = true});
    }
  });
  for (const auto& property : kDeviceProperties) {
    symbols.add(property.name, {.device = true});
  }
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
                               const DeviceLimits* limits) {
  std::vector<double> scope(family.symbols.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    scope[i] = static_cast<double>(config.values.at(i));
  }
  if (problem != nullptr) {
    for_each_problem_symbol(
        *problem, [&](const std::string& name, double value) { fill(scope, family, name, value); });
  }
  if (limits != nullptr) {
    for (const auto& property : kDeviceProperties) {
      fill(scope, family, property.name, property.value(*limits));
    }
  }
  const Needs known{.problem = problem != nullptr, .device = limits != nullptr};
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

#include "plan/scope.hpp"

#include <array>
#include <cmath>
#include <limits>

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
    {"dtype", [](const Problem& p) { return static_cast<double>(p.dtype); }},
    {"d_head", [](const Problem& p) { return static_cast<double>(p.d_head); }},
    {"softmax_scale",
     [](const Problem& p) {
       return static_cast<double>(1.0F / std::sqrt(static_cast<float>(p.d_head)));
     }},
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

/// dtype and d_head may be parameters, and are then the configuration's.
bool may_be_parameter(std::string_view name) { return name == "dtype" || name == "d_head"; }

template <class Properties, class Source>
void fill(std::vector<double>& scope, const Family& family, const Properties& properties,
          const Source& source) {
  for (const auto& property : properties) {
    const std::size_t symbol = family.symbols.find(property.name).value();
    if (symbol >= family.parameters.size()) {
      scope[symbol] = property.value(source);
    }
  }
}

}  // namespace

void add_environment_symbols(SymbolTable& symbols) {
  for (const auto& property : kProblemProperties) {
    if (!may_be_parameter(property.name) || !symbols.find(property.name)) {
      symbols.add(property.name, {.problem = true});
    }
  }
  for (const auto& property : kDeviceProperties) {
    symbols.add(property.name, {.device = true});
  }
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
    fill(scope, family, kProblemProperties, *problem);
  }
  if (limits != nullptr) {
    fill(scope, family, kDeviceProperties, *limits);
  }
  const Needs known{.problem = problem != nullptr, .device = limits != nullptr};
  for (const Derived& derived : family.derived) {
    if (derived.value.needs().within(known)) {
      scope[derived.symbol] = derived.value.number(scope);
    }
  }
  return scope;
}

}  // namespace fatune

#include "plan/expression_functions.hpp"

#include <array>
#include <utility>
#include <variant>

#include <muParser.h>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

namespace math = fatune_attention::math;

using Function = std::variant<mu::fun_type1, mu::fun_type2, mu::fun_type5, mu::multfun_type>;

struct NamedFunction {
  const char* name;
  Function function;
};

constexpr mu::multfun_type kLeast = &math::least;
constexpr mu::multfun_type kGreatest = &math::greatest;

constexpr std::array<NamedFunction, 9> kFunctions{{{"min", kLeast},
                                                   {"max", kGreatest},
                                                   {"ceil_div", &math::ceil_div},
                                                   {"round_up", &math::round_up},
                                                   {"floor", &math::floor_of},
                                                   {"is_pow2", &math::is_pow2},
                                                   {"ceil_log2", &math::ceil_log2},
                                                   {"umulhi_magic", &math::umulhi_magic},
                                                   {"tile_sum", &math::tile_sum}}};

std::optional<double> applied(mu::multfun_type function, std::span<const double> arguments) {
  return function(arguments.data(), static_cast<int>(arguments.size()));
}

/// Calls a function of a fixed number of arguments.
template <typename... Arguments>
std::optional<double> applied(double (*function)(Arguments...), std::span<const double> arguments) {
  if (arguments.size() != sizeof...(Arguments)) {
    return std::nullopt;
  }
  return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return function(arguments[kIndex]...);
  }
  (std::index_sequence_for<Arguments...>());
}

}  // namespace

void define_functions(mu::Parser& parser) {
  for (const NamedFunction& named : kFunctions) {
    std::visit([&](auto function) { parser.DefineFun(named.name, function); }, named.function);
  }
}

std::optional<double> called(std::string_view function, std::span<const double> arguments) {
  for (const NamedFunction& named : kFunctions) {
    if (named.name == function) {
      return std::visit([&](auto pointer) { return applied(pointer, arguments); }, named.function);
    }
  }
  return std::nullopt;
}

std::string function_names() { return joined(kFunctions, ", ", &NamedFunction::name); }

}  // namespace fatune

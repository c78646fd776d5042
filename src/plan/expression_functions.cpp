#include "plan/expression_functions.hpp"

#include <array>
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

}  // namespace

void define_functions(mu::Parser& parser) {
  for (const NamedFunction& named : kFunctions) {
    std::visit([&](auto function) { parser.DefineFun(named.name, function); }, named.function);
  }
}

std::string function_names() { return joined(kFunctions, ", ", &NamedFunction::name); }

}  // namespace fatune

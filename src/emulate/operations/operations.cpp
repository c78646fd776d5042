#include "emulate/operations/operations.hpp"

#include <array>
#include <map>

namespace fatune::emulate {

namespace {

/// Decodes by the kind of the instruction's type: its last one. Null: not covered.
template <Operation kInteger, Operation kFloat, Operation kHalf>
void by_type(Decoder& d) {
  constexpr std::array<Operation, 3> kOperations{kInteger, kFloat, kHalf};
  const ScalarType type = d.type();
  const bool single_or_double = type == ScalarType::f32 || type == ScalarType::f64;
  const Operation operation = kOperations[is_half(type) ? 2U : single_or_double ? 1U : 0U];
  if (operation == nullptr || type == ScalarType::tf32) {
    d.unsupported("this type");
  }
  operation(d);
}

// NOLINTNEXTLINE(readability-function-size): one table
const std::map<std::string_view, Operation>& operations_by_name() {
  static const std::map<std::string_view, Operation> operations{
      {"abs", by_type<decode_integer_abs, decode_float_abs, decode_half_abs>},
      {"activemask", decode_activemask},
      {"add", by_type<decode_integer_add, decode_float_add, decode_half_add>},
      {"addc", decode_carry},
      {"and", decode_logic},
      {"applypriority", decode_hint},
      {"atom", decode_atomic},
      {"bar", decode_bar},
      {"barrier", decode_bar},
      {"bfe", decode_bfe},
      {"bfi", decode_bfi},
      {"bfind", decode_bfind},
      {"bmsk", decode_bmsk},
      {"bra", decode_branch},
      {"brev", decode_brev},
      {"brkpt", decode_trap},
      {"brx", decode_brx},
      {"call", decode_call},
      {"clz", decode_clz},
      {"cnot", decode_cnot},
      {"copysign", decode_copysign},
      {"cos", decode_approximation},
      {"cp", decode_cp},
      {"createpolicy", decode_createpolicy},
      {"cvt", decode_cvt},
      {"cvta", decode_cvta},
      {"discard", decode_hint},
      {"div", by_type<decode_integer_div, decode_float_div, nullptr>},
      {"dp2a", decode_dp2a},
      {"dp4a", decode_dp4a},
      {"elect", decode_elect},
      {"ex2", by_type<nullptr, decode_approximation, decode_half_approximation>},
      {"exit", decode_exit},
      {"fence", decode_fence},
      {"fma", by_type<nullptr, decode_float_fma, decode_half_fma>},
      {"fns", decode_fns},
      {"getctarank", decode_getctarank},
      {"griddepcontrol", decode_hint},
      {"isspacep", decode_isspacep},
      {"ld", decode_ld},
      {"ldmatrix", decode_ldmatrix},
      {"ldu", decode_ld},
      {"lg2", decode_approximation},
      {"lop3", decode_lop3},
      {"mad", by_type<decode_integer_mad, decode_float_fma, nullptr>},
      {"mad24", decode_mad24},
      {"madc", decode_carry},
      {"mapa", decode_mapa},
      {"match", decode_match},
      {"max", by_type<decode_integer_max, decode_float_max, decode_half_max>},
      {"mbarrier", decode_mbarrier},
      {"membar", decode_fence},
      {"min", by_type<decode_integer_min, decode_float_min, decode_half_min>},
      {"mma", decode_mma},
      {"mov", decode_mov},
      {"movmatrix", decode_movmatrix},
      {"mul", by_type<decode_integer_mul, decode_float_mul, decode_half_mul>},
      {"mul24", decode_mul24},
      {"nanosleep", decode_hint},
      {"neg", by_type<decode_integer_neg, decode_float_neg, decode_half_neg>},
      {"not", decode_not},
      {"or", decode_logic},
      {"pmevent", decode_hint},
      {"popc", decode_popc},
      {"prefetch", decode_hint},
      {"prefetchu", decode_hint},
      {"prmt", decode_prmt},
      {"rcp", decode_rcp},
      {"red", decode_atomic},
      {"redux", decode_redux},
      {"rem", decode_rem},
      {"ret", decode_exit},
      {"rsqrt", decode_approximation},
      {"sad", decode_sad},
      {"selp", decode_selp},
      {"set", decode_set},
      {"setmaxnreg", decode_setmaxnreg},
      {"setp", decode_setp},
      {"shf", decode_shf},
      {"shfl", decode_shfl},
      {"shl", decode_shl},
      {"shr", decode_shr},
      {"sin", decode_approximation},
      {"slct", decode_slct},
      {"sqrt", decode_sqrt},
      {"st", decode_st},
      {"stmatrix", decode_stmatrix},
      {"sub", by_type<decode_integer_sub, decode_float_sub, decode_half_sub>},
      {"subc", decode_carry},
      {"szext", decode_szext},
      {"tanh", by_type<nullptr, decode_approximation, decode_half_approximation>},
      {"testp", decode_testp},
      {"trap", decode_trap},
      {"vote", decode_vote},
      {"wgmma", decode_wgmma},
      {"xor", decode_logic},
  };
  return operations;
}

}  // namespace

Operation find_operation(std::string_view name) {
  const auto found = operations_by_name().find(name);
  return found == operations_by_name().end() ? nullptr : found->second;
}

std::vector<std::string_view> covered_opcodes() {
  std::vector<std::string_view> names;
  for (const auto& [name, operation] : operations_by_name()) {
    names.push_back(name);
  }
  return names;
}

}  // namespace fatune::emulate

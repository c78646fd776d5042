#include "emulate/operations.hpp"

#include <map>

namespace fatune::emulate {

Operation find_operation(std::string_view name) {
  static const std::map<std::string_view, Operation> operations{
      {"abs", decode_abs},
      {"activemask", decode_activemask},
      {"add", decode_add},
      {"and", decode_logic},
      {"bar", decode_bar},
      {"barrier", decode_bar},
      {"bfe", decode_bfe},
      {"bfi", decode_bfi},
      {"bra", decode_branch},
      {"brev", decode_count_bits},
      {"clz", decode_count_bits},
      {"cos", decode_approximation},
      {"cp", decode_cp},
      {"cvt", decode_cvt},
      {"cvta", decode_cvta},
      {"div", decode_div},
      {"ex2", decode_approximation},
      {"exit", decode_exit},
      {"fence", decode_fence},
      {"fma", decode_fma},
      {"ld", decode_ld},
      {"ldmatrix", decode_ldmatrix},
      {"lg2", decode_approximation},
      {"lop3", decode_lop3},
      {"mad", decode_mad},
      {"max", decode_max},
      {"membar", decode_fence},
      {"min", decode_min},
      {"mma", decode_mma},
      {"mov", decode_mov},
      {"mul", decode_mul},
      {"neg", decode_neg},
      {"not", decode_not},
      {"or", decode_logic},
      {"popc", decode_count_bits},
      {"prefetch", decode_prefetch},
      {"prmt", decode_prmt},
      {"rcp", decode_approximation},
      {"rem", decode_rem},
      {"ret", decode_exit},
      {"rsqrt", decode_approximation},
      {"selp", decode_selp},
      {"setp", decode_setp},
      {"shf", decode_shf},
      {"shfl", decode_shfl},
      {"shl", decode_shl},
      {"shr", decode_shr},
      {"sin", decode_approximation},
      {"sqrt", decode_approximation},
      {"st", decode_st},
      {"stmatrix", decode_stmatrix},
      {"sub", decode_sub},
      {"tanh", decode_approximation},
      {"trap", decode_trap},
      {"vote", decode_vote},
      {"xor", decode_logic},
  };
  const auto found = operations.find(name);
  return found == operations.end() ? nullptr : found->second;
}

}  // namespace fatune::emulate

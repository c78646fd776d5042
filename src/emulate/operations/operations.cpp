#include "emulate/operations/operations.hpp"

namespace fatune::emulate {

namespace {

/// Decodes an instruction by the kind of its last type.
void decode_by_type(Decoder& d) {
  static const Operations integer = integer_operations();
  static const Operations single_or_double = float_operations();
  static const Operations half = half_operations();
  const ScalarType type = d.type();
  const Operations& operations = is_half(type) ? half
                                 : type == ScalarType::f32 || type == ScalarType::f64
                                     ? single_or_double
                                     : integer;
  const auto found = operations.find(d.name());
  d.unsupported_if(found == operations.end() || type == ScalarType::tf32, "this type");
  found->second(d);
}

Operations all_operations() {
  Operations all;
  for (auto* const list : {integer_operations, float_operations, half_operations}) {
    for (const auto& [name, decode] : list()) {
      all[name] = decode_by_type;
    }
  }
  for (auto* const list :
       {atomic_operations, bit_operations, call_operations, collective_operations,
        comparison_operations, conversion_operations, copy_operations, matrix_operations,
        mbarrier_operations, memory_operations, move_operations, sync_operations}) {
    all.merge(list());
  }
  return all;
}

const Operations& operations_by_name() {
  static const Operations operations = all_operations();
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

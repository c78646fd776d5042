#include "emulate/operations/operations.hpp"

#include <algorithm>
#include <map>

namespace fatune::emulate {

namespace {

std::span<const NamedOperation> operations_on(ScalarType type) {
  const bool single_or_double = type == ScalarType::f32 || type == ScalarType::f64;
  return is_half(type)      ? half_operations()
         : single_or_double ? float_operations()
                            : integer_operations();
}

/// Decodes an instruction by the kind of its last type.
void decode_by_type(Decoder& d) {
  const auto operations = operations_on(d.type());
  const auto found = std::ranges::find(operations, d.name(), &NamedOperation::name);
  d.unsupported_if(found == operations.end() || d.type() == ScalarType::tf32, "this type");
  found->decode(d);
}

std::map<std::string_view, Operation> all_operations() {
  std::map<std::string_view, Operation> all;
  for (auto* const list : {integer_operations, float_operations, half_operations}) {
    for (const NamedOperation& one : list()) {
      all[one.name] = decode_by_type;
    }
  }
  for (auto* const list :
       {atomic_operations, bit_operations, call_operations, collective_operations,
        comparison_operations, conversion_operations, copy_operations, matrix_operations,
        mbarrier_operations, memory_operations, move_operations, sync_operations,
        warpgroup_operations}) {
    for (const NamedOperation& one : list()) {
      all[one.name] = one.decode;
    }
  }
  return all;
}

const std::map<std::string_view, Operation>& operations_by_name() {
  static const std::map<std::string_view, Operation> operations = all_operations();
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

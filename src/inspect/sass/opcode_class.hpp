#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "inspect/sass/listing.hpp"

namespace fatune {

/// The unit that an instruction keeps busy.
enum class OpcodeClass {
  tensor,
  mufu,
  fp32,
  fp16,
  fp64,
  integer,
  conversion,
  shared,
  global,
  local,
  constant,
  lanes,
  barrier,
  control,
  move,
  uniform,
  other,
  unknown,
};
inline constexpr std::size_t kOpcodeClasses = static_cast<std::size_t>(OpcodeClass::unknown) + 1;

/// The name of a class in outputs, and what belongs to it.
struct OpcodeClassText {
  OpcodeClass which;
  std::string_view name;
  std::string_view doc;
};
/// All classes, in the order of the enumeration.
[[nodiscard]] const std::array<OpcodeClassText, kOpcodeClasses>& opcode_classes();
[[nodiscard]] std::string_view class_name(OpcodeClass which);

/// Returns `unknown` for an opcode that the table does not have.
[[nodiscard]] OpcodeClass class_of(const Instruction& instruction);

/// The FLOP (multiplications and additions) of one warp's share of a tensor instruction with dense
/// operands: 4096 for HMMA.16816. Four warps share HGMMA.64x128x16. Nothing for other instructions,
/// and for those whose name does not give the shape.
[[nodiscard]] std::optional<std::int64_t> tensor_flop(std::string_view mnemonic);

}  // namespace fatune

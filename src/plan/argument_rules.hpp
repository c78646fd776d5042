#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "core/kernel_arguments.hpp"
#include "data/json_file.hpp"
#include "plan/choice.hpp"
#include "plan/expression.hpp"

namespace fatune {

// A family's "arguments", "workspace" and "outputs", with their expressions.

/// The tensors of a problem that arguments may point to; others are buffers of the family.
inline constexpr std::array<std::string_view, 5> kProblemTensors{"q", "k", "v", "o", "lse"};

/// A scalar type as family.json names it: "int32", "float", ...
struct ScalarType {
  std::string_view name;
  std::int64_t bytes = 0;
  /// Returns the value's bytes; nothing if it does not fit the type.
  std::optional<std::uint64_t> (*bits)(const Expression&, std::span<const double> scope) = nullptr;
};

struct TensorMapRule {
  Choice<std::string> element_type;
  std::vector<Expression> sizes;
  std::vector<Expression> strides_bytes;
  std::vector<Expression> box;
  std::vector<Expression> element_strides;  ///< empty: all 1
  Choice<std::string> swizzle;
  Choice<std::string> interleave;
  Choice<std::string> l2_promotion;
  Choice<std::string> oob_fill;
};

/// One item of "arguments", or of a struct. `kind` says which of the members are used.
struct ArgumentRule {
  enum class Kind : std::uint8_t { scalar, address, tensor_map, structure };

  std::string where;    ///< file and pointer, for messages
  std::string pointer;  ///< within the file
  Kind kind = Kind::scalar;
  std::optional<Expression> when;  ///< absent: always
  const ScalarType* scalar = nullptr;
  std::vector<Expression> values;  ///< of a scalar; several: an array of scalars
  std::string tensor;              ///< of an address or a map
  std::optional<Expression> offset_bytes;
  std::optional<TensorMapRule> tensor_map;
  std::vector<ArgumentRule> items;  ///< of a struct
  std::optional<Expression> align;  ///< of a struct, in bytes; absent: that of its items
};

/// BufferRule::clear for a workspace whose contents do not matter to the kernel.
inline constexpr std::string_view kUnneededClear = "unneeded";

/// An item of "workspace" or "outputs".
struct BufferRule {
  std::string where;
  std::string name;
  std::optional<Expression> bytes;         ///< of a workspace
  std::optional<Expression> initial_word;  ///< absent: 0
  std::string clear = "never";
  std::string output;  ///< the kind of an output; empty: a workspace
  std::string element_type;
  std::vector<Expression> shape;
};

/// The bytes of an element of an output; 1 for a workspace.
[[nodiscard]] std::int64_t element_bytes_of(const BufferRule& rule);

/// The rules for a kernel's arguments.
struct ArgumentRules {
  bool standard = true;  ///< given by the family's "abi": attention_forward_arguments()
  std::vector<ArgumentRule> list;
  std::vector<BufferRule> buffers;
};

/// Reads "arguments", "workspace" and "outputs" of family.json. Without "arguments", "abi" says
/// what they are. Throws Error(bad_file) naming the pointer of what is wrong.
[[nodiscard]] ArgumentRules read_argument_rules(const JsonNode& root, const SymbolTable& symbols);

/// Evaluates the rules for one configuration and problem. Throws Error(bad_file) if an expression
/// gives an impossible value.
[[nodiscard]] KernelArguments resolve(const ArgumentRules& rules, std::span<const double> scope,
                                      const Problem& problem);

}  // namespace fatune

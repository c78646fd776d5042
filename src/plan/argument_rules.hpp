#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.hpp"
#include "model/kv_lengths.hpp"
#include "plan/expression.hpp"

namespace fatune_attention::detail {
enum class Call : int;  // runtime/launch_builder.hpp
}

namespace fatune {

using LaunchCall = fatune_attention::detail::Call;

// A family's "launch", "arguments", "workspace" and "outputs", with their expressions.

/// The tensors of a problem that arguments may point to; others are buffers of the family.
inline constexpr std::array<std::string_view, 6> kProblemTensors{"q", "k",   "v",
                                                                 "o", "lse", kKeyLengthsTensor};

/// A scalar type as family.json names it: "int32", "float", ...
struct ScalarType {
  std::string_view name;
  std::int64_t bytes = 0;
  LaunchCall call;
};

/// A call of LaunchBuilder, which describes a launch both here and in exported libraries.
struct LaunchStep {
  LaunchCall call;
  std::vector<Expression> values;
  std::optional<Expression> when;      ///< absent: always
  std::string where;                   ///< file and pointer, for messages
  std::string pointer{};               ///< within the file
  std::string name{};                  ///< of an item: the kernel's
  const ScalarType* scalar = nullptr;  ///< null: no scalar
  std::size_t tensor = 0;              ///< of an address or a map: see ArgumentRules::tensor_name()
};

/// BufferRule::clear for a workspace whose contents do not matter to the kernel.
inline constexpr std::string_view kUnneededClear = "unneeded";

/// An item of "workspace" or "outputs".
struct BufferRule {
  std::string where;
  std::string name;
  Expression bytes;
  Expression initial_word;
  std::string clear = "never";
  std::string output{};  ///< the kind of an output; empty: a workspace
  std::string element_type{};
  std::vector<Expression> shape{};
};

/// The rules for a kernel's arguments.
struct ArgumentRules {
  bool standard = true;  ///< given by the family's "abi": kernels/common/attention_args.h
  std::vector<LaunchStep> steps;
  std::vector<BufferRule> buffers;

  /// The tensors of a problem come first, then the buffers, as in LaunchBuilder's Operand.
  [[nodiscard]] std::string tensor_name(std::size_t tensor) const {
    return tensor < kProblemTensors.size() ? std::string(kProblemTensors.at(tensor))
                                           : buffers.at(tensor - kProblemTensors.size()).name;
  }
};

/// Whether the kernel takes lengths of keys that differ within the batch.
[[nodiscard]] bool takes_key_lengths(const ArgumentRules& rules);

/// Reads "arguments", "workspace" and "outputs" of family.json. Without "arguments", "abi" says
/// what they are. Throws Error(bad_file) naming the pointer of what is wrong.
[[nodiscard]] ArgumentRules read_argument_rules(const JsonNode& root, const SymbolTable& symbols);

/// Reads "launch": the steps that are no arguments.
[[nodiscard]] std::vector<LaunchStep> read_launch(const JsonNode& node, const SymbolTable& symbols);

}  // namespace fatune

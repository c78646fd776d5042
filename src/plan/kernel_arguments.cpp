// The functions of argument_rules.hpp that evaluate rules, and lay out structs as C does.
#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/forward_arguments.hpp"
#include "attention/row_values.hpp"
#include "core/error.hpp"
#include "core/mapped.hpp"
#include "plan/argument_rules.hpp"

namespace fatune {
namespace {

using Scope = std::span<const double>;

constexpr std::int64_t kAddressBytes = 8;
constexpr std::int64_t kTensorMapAlignment = 64;
// The greatest total size of a kernel's arguments, in bytes.
constexpr std::int64_t kMostArgumentBytes = 32764;
constexpr std::int64_t kMostBufferBytes = std::int64_t{1} << 40;
// NaN in every floating-point type, which reveals a kernel that reads what it has not written.
constexpr std::uint32_t kPoison = 0xFFFFFFFF;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 40;
constexpr std::int64_t kMostAlignment = 256;

struct NamedBytes {
  std::string_view name;
  std::int64_t bytes;
};
// The element types of outputs.
constexpr std::array<NamedBytes, 6> kElementTypes{
    {{"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int32", 4}, {"int64", 8}}};

std::int64_t within(const Expression& of, Scope scope, std::int64_t least, std::int64_t most,
                    const std::string& where) {
  const std::int64_t value = of.integer(scope);
  if (value < least || value > most) {
    fail_value(of, value < least ? Misfit::other : Misfit::too_great,
               fmt::format("\"{}\" gives {}, outside {} to {}", of.text(), value, least, most),
               where);
  }
  return value;
}

std::vector<std::int64_t> extents(const std::vector<Expression>& of, Scope scope,
                                  const std::string& where) {
  return mapped(of,
                [&](const Expression& one) { return within(one, scope, 0, kMostExtent, where); });
}

/// An argument under construction.
class Layout {
 public:
  explicit Layout(Scope scope) : scope_(scope) {}

  void add(const ArgumentRule& rule) {
    if (rule.when && !rule.when->holds(scope_)) {
      return;
    }
    switch (rule.kind) {
      case ArgumentRule::Kind::scalar:
        return add_scalars(rule);
      case ArgumentRule::Kind::address:
        return add_address(rule);
      case ArgumentRule::Kind::tensor_map:
        return add_tensor_map(rule);
      case ArgumentRule::Kind::structure:
        return add_struct(rule);
    }
  }

  /// Returns the argument with its padding at the end; it has no bytes if all its items are absent.
  [[nodiscard]] KernelArgument finish() {
    argument_.bytes = round_up(argument_.bytes, argument_.alignment);
    return std::move(argument_);
  }

 private:
  static std::int64_t round_up(std::int64_t value, std::int64_t granule) {
    return (value + granule - 1) / granule * granule;
  }

  std::int64_t place(std::int64_t bytes, std::int64_t alignment, const std::string& where) {
    const std::int64_t offset = round_up(argument_.bytes, alignment);
    argument_.bytes = offset + bytes;
    argument_.alignment = std::max(argument_.alignment, alignment);
    if (argument_.bytes > kMostArgumentBytes) {
      throw Error(ExitCode::bad_file,
                  fmt::format("the arguments have more than {} bytes", kMostArgumentBytes), where);
    }
    return offset;
  }

  void add_scalars(const ArgumentRule& rule) {
    const ScalarType& type = *rule.scalar;
    for (const Expression& value : rule.values) {
      const auto bits = type.bits(value, scope_);
      if (!bits) {
        const double number = value.number(scope_);
        fail_value(value, number > 0.0 ? Misfit::too_great : Misfit::other,
                   fmt::format("\"{}\" gives {}, which is not a valid {}", value.text(), number,
                               type.name),
                   rule.where);
      }
      argument_.scalars.push_back(
          {place(type.bytes, type.bytes, rule.where), type.bytes, *bits, std::string(type.name)});
    }
  }

  [[nodiscard]] std::int64_t byte_offset(const ArgumentRule& rule) const {
    return rule.offset_bytes ? within(*rule.offset_bytes, scope_, 0, kMostExtent, rule.where) : 0;
  }

  void add_address(const ArgumentRule& rule) {
    argument_.addresses.push_back(
        {place(kAddressBytes, kAddressBytes, rule.where), rule.tensor, byte_offset(rule)});
  }

  void add_tensor_map(const ArgumentRule& rule) {
    const TensorMapRule& map = *rule.tensor_map;
    TensorMapPiece piece;
    piece.offset = place(kTensorMapArgumentBytes, kTensorMapAlignment, rule.where);
    piece.tensor = rule.tensor;
    piece.byte_offset = byte_offset(rule);
    piece.element_type = map.element_type.of(scope_);
    piece.sizes = extents(map.sizes, scope_, rule.where);
    piece.strides_bytes = extents(map.strides_bytes, scope_, rule.where);
    piece.box = extents(map.box, scope_, rule.where);
    piece.element_strides = map.element_strides.empty()
                                ? std::vector<std::int64_t>(piece.sizes.size(), 1)
                                : extents(map.element_strides, scope_, rule.where);
    piece.swizzle = map.swizzle.of(scope_);
    piece.interleave = map.interleave.of(scope_);
    piece.l2_promotion = map.l2_promotion.of(scope_);
    piece.oob_fill = map.oob_fill.of(scope_);
    argument_.tensor_maps.push_back(std::move(piece));
  }

  void add_struct(const ArgumentRule& rule) {
    Layout inner(scope_);
    if (rule.align) {
      inner.argument_.alignment = within(*rule.align, scope_, 1, kMostAlignment, rule.where);
      if (!std::has_single_bit(static_cast<std::uint64_t>(inner.argument_.alignment))) {
        throw Error(ExitCode::bad_file, "an alignment that is not a power of two", rule.where);
      }
    }
    for (const ArgumentRule& item : rule.items) {
      inner.add(item);
    }
    const KernelArgument whole = inner.finish();
    const std::int64_t at = place(whole.bytes, whole.alignment, rule.where);
    append(whole.scalars, at, argument_.scalars);
    append(whole.addresses, at, argument_.addresses);
    append(whole.tensor_maps, at, argument_.tensor_maps);
  }

  template <typename Piece>
  static void append(const std::vector<Piece>& pieces, std::int64_t at, std::vector<Piece>& to) {
    for (Piece piece : pieces) {
      piece.offset += at;
      to.push_back(std::move(piece));
    }
  }

  Scope scope_;
  KernelArgument argument_;
};

std::int64_t output_bytes(const BufferRule& rule, const KernelBuffer& buffer) {
  std::int64_t bytes = element_bytes_of(rule);
  for (const std::int64_t extent : buffer.shape) {
    if (extent < 1 || bytes > kMostBufferBytes / extent) {
      throw Error(ExitCode::bad_file,
                  fmt::format("a shape of {}: outside 1 to {} bytes",
                              fmt::join(buffer.shape, " x "), kMostBufferBytes),
                  rule.where);
    }
    bytes *= extent;
  }
  return bytes;
}

/// Row values are compared, so it must be known where the value of each row is.
void check_row_values(const BufferRule& rule, const KernelBuffer& buffer, const Problem& problem) {
  const std::vector<std::int64_t> rows{problem.batch, problem.heads, problem.seq_len};
  std::vector<std::int64_t> shape = buffer.shape;
  while (shape.size() > rows.size() && shape.back() == 1) {
    shape.pop_back();
  }
  if (parse_row_value(rule.output) && (rule.element_type != "float32" || shape != rows)) {
    throw Error(ExitCode::bad_file,
                fmt::format("'{}' is {}, with {} {}", rule.name, rule.output,
                            fmt::join(buffer.shape, " x "), rule.element_type),
                rule.where,
                fmt::format("one float32 for each row: batch x heads x seq_len, here {}; or say "
                            "that it is unchecked",
                            fmt::join(rows, " x ")));
  }
}

KernelBuffer resolve_buffer(const BufferRule& rule, Scope scope, const Problem& problem) {
  KernelBuffer buffer;
  buffer.name = rule.name;
  buffer.output = rule.output;
  buffer.element_type = rule.element_type;
  buffer.clear = rule.clear;
  buffer.shape = extents(rule.shape, scope, rule.where);
  buffer.bytes = rule.bytes ? within(*rule.bytes, scope, 1, kMostBufferBytes, rule.where)
                            : output_bytes(rule, buffer);
  if (rule.initial_word) {
    buffer.word = static_cast<std::uint32_t>(within(
        *rule.initial_word, scope, 0, std::numeric_limits<std::uint32_t>::max(), rule.where));
  }
  if (rule.clear == kUnneededClear && !rule.initial_word) {
    buffer.word = kPoison;
  }
  check_row_values(rule, buffer, problem);
  return buffer;
}

KernelArguments own_arguments(const std::vector<ArgumentRule>& rules, Scope scope) {
  KernelArguments arguments{false, {}, {}};
  for (const ArgumentRule& rule : rules) {
    Layout layout(scope);
    layout.add(rule);
    KernelArgument argument = layout.finish();
    if (argument.bytes > 0) {
      argument.pointer = rule.pointer;
      arguments.list.push_back(std::move(argument));
    }
  }
  return arguments;
}

bool is_passed(const KernelArguments& arguments, const std::string& tensor) {
  return std::ranges::any_of(arguments.list, [&](const KernelArgument& argument) {
    return std::ranges::any_of(argument.addresses,
                               [&](const AddressPiece& piece) { return piece.tensor == tensor; }) ||
           std::ranges::any_of(argument.tensor_maps,
                               [&](const TensorMapPiece& piece) { return piece.tensor == tensor; });
  });
}

}  // namespace

std::int64_t element_bytes_of(const BufferRule& rule) {
  const auto found = std::ranges::find_if(
      kElementTypes, [&](const auto& type) { return type.name == rule.element_type; });
  return found == kElementTypes.end() ? 1 : found->bytes;
}

KernelArguments resolve(const ArgumentRules& rules, std::span<const double> scope,
                        const Problem& problem) {
  KernelArguments arguments =
      rules.standard ? attention_forward_arguments(problem) : own_arguments(rules.list, scope);
  for (const BufferRule& rule : rules.buffers) {
    arguments.buffers.push_back(resolve_buffer(rule, scope, problem));
  }
  const KernelBuffer lse = log_sum_exp_buffer(problem);
  if (!rules.standard && is_passed(arguments, lse.name)) {
    arguments.buffers.push_back(lse);
  }
  return arguments;
}

}  // namespace fatune

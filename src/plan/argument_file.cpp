// The functions of argument_rules.hpp that read rules.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/is_among.hpp"
#include "core/mapped.hpp"
#include "core/tensor_map_names.hpp"
#include "plan/argument_rules.hpp"

namespace fatune {
namespace {

template <typename Value>
std::uint64_t bits_of(Value value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename Integer>
std::optional<std::uint64_t> integer_bits(const Expression& value, std::span<const double> scope) {
  const std::int64_t number = value.integer(scope);
  return std::in_range<Integer>(number) ? std::optional(bits_of(static_cast<Integer>(number)))
                                        : std::nullopt;
}

template <typename Float>
std::optional<std::uint64_t> float_bits(const Expression& value, std::span<const double> scope) {
  const double number = value.number_or_infinity(scope);
  const bool fits = std::isinf(number) ||
                    std::abs(number) <= static_cast<double>(std::numeric_limits<Float>::max());
  return fits ? std::optional(bits_of(static_cast<Float>(number))) : std::nullopt;
}

std::optional<std::uint64_t> bool_bits(const Expression& value, std::span<const double> scope) {
  return value.holds(scope) ? 1 : 0;
}

constexpr std::array<ScalarType, 11> kScalarTypes{{
    {"int8", 1, &integer_bits<std::int8_t>},
    {"uint8", 1, &integer_bits<std::uint8_t>},
    {"int16", 2, &integer_bits<std::int16_t>},
    {"uint16", 2, &integer_bits<std::uint16_t>},
    {"int32", 4, &integer_bits<std::int32_t>},
    {"int64", 8, &integer_bits<std::int64_t>},
    {"uint32", 4, &integer_bits<std::uint32_t>},
    {"uint64", 8, &integer_bits<std::uint64_t>},
    {"float", 4, &float_bits<float>},
    {"double", 8, &float_bits<double>},
    {"bool", 1, &bool_bits},
}};

/// Names of the tensors and buffers that arguments may point to.
using TensorNames = std::vector<std::string>;

class Reader {
 public:
  Reader(const SymbolTable& symbols, TensorNames names)
      : symbols_(symbols), names_(std::move(names)) {}

  [[nodiscard]] std::vector<ArgumentRule> list(const JsonNode& node) const {
    return mapped(node.elements(), [this](const JsonNode& item) { return rule(item); });
  }

 private:
  [[nodiscard]] ArgumentRule rule(const JsonNode& item) const {
    ArgumentRule rule;
    rule.where = item.where();
    rule.pointer = item.pointer();
    rule.when = optional(item, "when");
    const std::string kind = kind_of(item);
    const JsonNode value = item.at(kind);
    if (kind == "struct") {
      rule.kind = ArgumentRule::Kind::structure;
      rule.items = list(value);
      rule.align = optional(item, "align");
    } else if (kind == "tensor") {
      rule.kind = ArgumentRule::Kind::address;
      rule.tensor = tensor(value);
      rule.offset_bytes = optional(item, "offset_bytes");
    } else if (kind == "tensor_map") {
      add_tensor_map(value, rule);
    } else {
      add_scalar(kind, value, rule);
    }
    return rule;
  }

  [[nodiscard]] static std::vector<std::string> all_kinds() {
    std::vector<std::string> kinds{"tensor", "tensor_map", "struct"};
    for (const ScalarType& type : kScalarTypes) {
      kinds.emplace_back(type.name);
    }
    return kinds;
  }

  /// The name of the one member that gives the item's kind.
  [[nodiscard]] static std::string kind_of(const JsonNode& item) {
    std::vector<std::string> kinds = all_kinds();
    std::erase_if(kinds, [&](const std::string& kind) { return !item.find(kind); });
    if (kinds.size() != 1) {
      item.fail(kinds.empty() ? "does not say what it is"
                              : fmt::format("is {} at once", fmt::join(kinds, " and ")),
                fmt::format("one of {}", fmt::join(all_kinds(), ", ")));
    }
    return kinds.front();
  }

  void add_scalar(const std::string& kind, const JsonNode& value, ArgumentRule& rule) const {
    rule.scalar = &*std::ranges::find(kScalarTypes, kind, &ScalarType::name);
    rule.values =
        value.raw().is_array() ? expressions(value) : std::vector<Expression>{expression(value)};
  }

  void add_tensor_map(const JsonNode& node, ArgumentRule& rule) const {
    rule.kind = ArgumentRule::Kind::tensor_map;
    rule.tensor = tensor(node.at("tensor"));
    rule.offset_bytes = optional(node, "offset_bytes");
    rule.tensor_map = TensorMapRule{name(node.at("element_type"), kTensorMapElementTypes),
                                    expressions(node.at("sizes")),
                                    expressions(node.at("strides_bytes")),
                                    expressions(node.at("box")),
                                    {},
                                    name_or_none(node, "swizzle", kTensorMapSwizzles),
                                    name_or_none(node, "interleave", kTensorMapInterleaves),
                                    name_or_none(node, "l2_promotion", kTensorMapL2Promotions),
                                    name_or_none(node, "oob_fill", kTensorMapOobFills)};
    if (const auto strides = node.find("element_strides")) {
      rule.tensor_map->element_strides = expressions(*strides);
    }
    check_rank(node, *rule.tensor_map);
  }

  static void check_rank(const JsonNode& node, const TensorMapRule& map) {
    const std::size_t rank = map.sizes.size();
    if (map.box.size() != rank || map.strides_bytes.size() + 1 != rank ||
        (!map.element_strides.empty() && map.element_strides.size() != rank)) {
      node.fail(fmt::format("{} sizes, {} strides_bytes, {} box, {} element_strides", rank,
                            map.strides_bytes.size(), map.box.size(), map.element_strides.size()),
                "one of each for every dimension; strides_bytes from dimension 1 on, "
                "element_strides may be left out");
    }
  }

  [[nodiscard]] std::string tensor(const JsonNode& node) const {
    std::string name = node.text();
    if (!is_among(name, names_)) {
      node.fail(fmt::format("there is no tensor '{}'", name),
                fmt::format("known here: {}", fmt::join(names_, ", ")));
    }
    return name;
  }

  using Names = std::span<const std::string_view>;

  [[nodiscard]] Choice<std::string> name(const JsonNode& node, Names known) const {
    return read_choice(node, symbols_, [&](const JsonNode& value) {
      std::string text = value.text();
      if (index_of_name(known, text) == known.size()) {
        value.fail(fmt::format("there is no '{}'", text),
                   fmt::format("known here: {}", fmt::join(known, ", ")));
      }
      return text;
    });
  }
  [[nodiscard]] Choice<std::string> name_or_none(const JsonNode& node, const char* member,
                                                 Names known) const {
    const auto found = node.find(member);
    return found ? name(*found, known)
                 : Choice<std::string>{node.where(), {{std::nullopt, "none"}}};
  }

  [[nodiscard]] Expression expression(const JsonNode& node) const {
    return {node.text(), symbols_, node.where()};
  }
  [[nodiscard]] std::vector<Expression> expressions(const JsonNode& node) const {
    return mapped(node.elements(), [this](const JsonNode& item) { return expression(item); });
  }
  [[nodiscard]] std::optional<Expression> optional(const JsonNode& node, const char* member) const {
    const auto found = node.find(member);
    return found ? std::optional(expression(*found)) : std::nullopt;
  }

  const SymbolTable& symbols_;
  TensorNames names_;
};

void check_name(const JsonNode& item, const TensorNames& names) {
  const JsonNode node = item.at("name");
  const std::string name = node.text();
  if (!is_identifier(name)) {
    node.fail(fmt::format("'{}' is not an identifier", name));
  }
  if (is_among(name, names)) {
    node.fail(fmt::format("the name '{}' is taken", name), "tensors and buffers share their names");
  }
}

BufferRule read_workspace(const JsonNode& item, const SymbolTable& symbols) {
  const auto word = item.find("initial_word");
  const auto clear = item.find("clear");
  BufferRule rule;
  rule.where = item.where();
  rule.name = item.at("name").text();
  rule.bytes.emplace(item.at("bytes").text(), symbols, item.at("bytes").where());
  if (word) {
    rule.initial_word.emplace(word->text(), symbols, word->where());
  }
  rule.clear = clear ? clear->text() : "never";
  return rule;
}

BufferRule read_output(const JsonNode& item, const SymbolTable& symbols) {
  BufferRule rule;
  rule.where = item.where();
  rule.name = item.at("name").text();
  rule.output = item.at("is").text();
  rule.element_type = item.at("element_type").text();
  for (const JsonNode& extent : item.at("shape").elements()) {
    rule.shape.emplace_back(extent.text(), symbols, extent.where());
  }
  return rule;
}

template <typename ReadItem>
void read_buffers(const JsonNode& root, const char* member, ReadItem read_item, TensorNames& names,
                  std::vector<BufferRule>& buffers) {
  const auto list = root.find(member);
  for (const JsonNode& item : list ? list->elements() : std::vector<JsonNode>{}) {
    check_name(item, names);
    buffers.push_back(read_item(item));
    names.push_back(buffers.back().name);
  }
}

}  // namespace

ArgumentRules read_argument_rules(const JsonNode& root, const SymbolTable& symbols) {
  TensorNames names(kProblemTensors.begin(), kProblemTensors.end());
  ArgumentRules rules;
  read_buffers(
      root, "workspace", [&](const auto& item) { return read_workspace(item, symbols); }, names,
      rules.buffers);
  read_buffers(
      root, "outputs", [&](const auto& item) { return read_output(item, symbols); }, names,
      rules.buffers);
  const auto own = root.find("arguments");
  if (own.has_value() == root.find("abi").has_value()) {
    root.fail(
        own ? "has both 'abi' and 'arguments'" : "has neither 'abi' nor 'arguments'",
        "say what the kernel takes with either \"abi\": \"attention_forward\" or \"arguments\"");
  }
  if (!own && !rules.buffers.empty()) {
    root.fail("has a workspace or outputs that are not passed to the kernel",
              "list \"arguments\" that name them");
  }
  rules.standard = !own;
  if (own) {
    rules.list = Reader(symbols, names).list(*own);
  }
  return rules;
}

}  // namespace fatune

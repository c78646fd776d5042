// The functions of family.hpp that read rules.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "model/kernel_code.hpp"
#include "plan/family.hpp"
#include "plan/reason.hpp"
#include "runtime/launch_builder.hpp"

namespace fatune {
namespace {

using Call = LaunchCall;
static_assert(kProblemTensors.size() == fatune_attention::detail::kTensorCount);

using When = std::optional<Expression>;
using Names = std::span<const std::string_view>;

constexpr std::array<ScalarType, 11> kScalarTypes{{{"int8", 1, Call::int8},
                                                   {"uint8", 1, Call::uint8},
                                                   {"int16", 2, Call::int16},
                                                   {"uint16", 2, Call::uint16},
                                                   {"int32", 4, Call::int32},
                                                   {"int64", 8, Call::int64},
                                                   {"uint32", 4, Call::uint32},
                                                   {"uint64", 8, Call::uint64},
                                                   {"float", 4, Call::float32},
                                                   {"double", 8, Call::float64},
                                                   {"bool", 1, Call::boolean}}};

/// What "abi" stands for: kernels/common/attention_args.h, and the members that an unusual problem
/// appends to it.
constexpr const char* kStandardArguments = R"([{"struct": [
    {"name": "q", "tensor": "q"}, {"name": "k", "tensor": "k"}, {"name": "v", "tensor": "v"},
    {"name": "o", "tensor": "o"}, {"name": "batch", "int32": "batch"},
    {"name": "seq_len", "int32": "seq_len"}, {"name": "heads", "int32": "heads"},
    {"name": "softmax_scale", "float": "softmax_scale"},
    {"name": "lse", "tensor": "lse", "when": "lse"},
    {"name": "seq_len_kv", "int32": "seq_len_kv", "when": "seq_len_kv != seq_len && !has_seq_lens"},
    {"name": "sinks", "tensor": "sinks", "when": "sinks"},
    {"name": "softcap", "float": "softcap", "when": "softcap > 0"},
    {"name": "cu_seqlens_q", "tensor": "cu_seqlens_q", "when": "has_seq_lens"},
    {"name": "cu_seqlens_kv", "tensor": "cu_seqlens_kv", "when": "has_seq_lens"}]}])";

// The word that fills memory whose contents do not matter: NaN in every floating-point type, which
// reveals a kernel that reads what it has not written.
constexpr double kPoison = 0xFFFFFFFF;

/// Names of the tensors and buffers that arguments may point to.
using TensorNames = std::vector<std::string>;

/// `a && b`, where an absent condition always holds.
When both(const When& a, const When& b) {
  return a && b ? When(std::in_place, operator_of("&&", 2), std::vector{*a, *b}) : a ? a : b;
}

std::vector<Expression> expressions_of(const std::vector<JsonNode>& nodes,
                                       const SymbolTable& symbols) {
  return mapped(nodes, [&](const JsonNode& node) { return Expression(node, symbols); });
}

/// Reads the steps of the arguments.
class Reader {
 public:
  Reader(const SymbolTable& symbols, const TensorNames& names) : symbols_(symbols), names_(names) {}

  [[nodiscard]] std::vector<LaunchStep> arguments(const JsonNode& node) {
    for (const JsonNode& item : node.elements()) {
      add(Call::begin_argument, item, {});
      add_item(item, {});
      add(Call::end_argument, item, {});
    }
    return std::move(steps_);
  }

 private:
  LaunchStep& add(Call call, const JsonNode& item, const When& when,
                  std::vector<Expression> values = {}) {
    const auto name = item.find("name");
    return steps_.emplace_back(LaunchStep{call, std::move(values), when, item.where(),
                                          item.pointer(), name ? name->text() : ""});
  }

  void add_item(const JsonNode& item, const When& outer) {
    const When when = both(outer, find_expression(item, "when", symbols_));
    const std::string kind = kind_of(item);
    const JsonNode value = item.at(kind);
    if (kind == "struct") {
      add(Call::begin_struct, item, when, {or_zero(item, "align")});
      for (const JsonNode& member : value.elements()) {
        if (!member.find("name")) {
          member.fail("a member of a struct has no \"name\"", "give it the kernel's name for it");
        }
        add_item(member, when);
      }
      add(Call::end_struct, item, when);
    } else if (kind == "tensor") {
      add(Call::address, item, when, {or_zero(item, "offset_bytes")}).tensor = tensor(value);
    } else if (kind == "tensor_map") {
      add(Call::tensor_map, item, when, map_values(value)).tensor = tensor(value.at("tensor"));
    } else {
      add_scalars(*std::ranges::find(kScalarTypes, kind, &ScalarType::name), item, value, when);
    }
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

  void add_scalars(const ScalarType& type, const JsonNode& item, const JsonNode& node,
                   const When& when) {
    for (const Expression& value :
         node.raw().is_array() ? expressions(node) : std::vector{Expression(node, symbols_)}) {
      const bool may_be_infinite = value.names_infinity();
      add(may_be_infinite && type.call == Call::float32   ? Call::float32_or_infinity
          : may_be_infinite && type.call == Call::float64 ? Call::float64_or_infinity
                                                          : type.call,
          item, when, {value})
          .scalar = &type;
    }
  }

  /// The values of Call::tensor_map.
  [[nodiscard]] std::vector<Expression> map_values(const JsonNode& node) const {
    std::vector<Expression> values{or_zero(node, "offset_bytes"),
                                   index(node, "element_type", kTensorMapElementTypes),
                                   index(node, "interleave", kTensorMapInterleaves),
                                   index(node, "swizzle", kTensorMapSwizzles),
                                   index(node, "l2_promotion", kTensorMapL2Promotions),
                                   index(node, "oob_fill", kTensorMapOobFills)};
    const std::size_t rank = node.at("sizes").elements().size();
    const auto strides = node.find("element_strides");
    const std::array<std::vector<Expression>, 4> arrays{
        expressions(node.at("sizes")), expressions(node.at("strides_bytes")),
        expressions(node.at("box")),
        strides ? expressions(*strides)
                : std::vector<Expression>(rank, Expression(1.0, node.where()))};
    if (arrays[1].size() + 1 != rank || arrays[2].size() != rank || arrays[3].size() != rank) {
      node.fail(fmt::format("{} sizes, {} strides_bytes, {} box, {} element_strides", rank,
                            arrays[1].size(), arrays[2].size(), arrays[3].size()),
                "one of each for every dimension; strides_bytes from dimension 1 on, "
                "element_strides may be left out");
    }
    for (const std::vector<Expression>& array : arrays) {
      values.insert(values.end(), array.begin(), array.end());
    }
    return values;
  }

  /// The index of the tensor's name.
  [[nodiscard]] std::size_t tensor(const JsonNode& node) const {
    const auto found = std::ranges::find(names_, node.text());
    if (found == names_.end()) {
      node.fail(fmt::format("there is no tensor '{}'", node.text()),
                fmt::format("known here: {}", fmt::join(names_, ", ")));
    }
    return static_cast<std::size_t>(found - names_.begin());
  }

  /// The index of a property's name, which may depend on conditions; -1 if none holds. Absent: 0.
  [[nodiscard]] Expression index(const JsonNode& map, const char* member, Names known) const {
    const auto node = map.find(member);
    if (!node) {
      return Expression(0.0, map.where());
    }
    const auto choice = read_choice(*node, symbols_, [&](const JsonNode& value) {
      const std::size_t found = index_of_name(known, value.text());
      if (found == known.size()) {
        value.fail(fmt::format("there is no '{}'", value.text()),
                   fmt::format("known here: {}", fmt::join(known, ", ")));
      }
      return Expression(static_cast<double>(found), value.where());
    });
    Expression result(-1.0, node->where());
    for (auto item = choice.items.rbegin(); item != choice.items.rend(); ++item) {
      result = item->when
                   ? Expression(operator_of(kConditional, 3), {*item->when, item->value, result})
                   : item->value;
    }
    return result;
  }

  [[nodiscard]] std::vector<Expression> expressions(const JsonNode& node) const {
    return expressions_of(node.elements(), symbols_);
  }
  [[nodiscard]] Expression or_zero(const JsonNode& node, const char* member) const {
    return find_expression(node, member, symbols_).value_or(Expression(0.0, node.where()));
  }

  const SymbolTable& symbols_;
  const TensorNames& names_;
  std::vector<LaunchStep> steps_;
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
  const auto word = find_expression(item, "initial_word", symbols);
  const auto clear = item.find("clear");
  return {.where = item.where(),
          .name = item.at("name").text(),
          .bytes = {item.at("bytes"), symbols},
          .initial_word = word.value_or(
              Expression(clear && clear->text() == kUnneededClear ? kPoison : 0.0, item.where())),
          .clear = clear ? clear->text() : "never"};
}

BufferRule read_output(const JsonNode& item, const SymbolTable& symbols) {
  std::vector<Expression> shape = expressions_of(item.at("shape").elements(), symbols);
  const std::string type = item.at("element_type").text();
  const std::size_t element = index_of_name(kTensorMapElementTypes, type);
  Expression bytes(static_cast<double>(kTensorMapElementBytes.at(element)), item.where());
  for (const Expression& extent : shape) {
    bytes = Expression(operator_of("*", 2), {bytes, extent});
  }
  return {.where = item.where(),
          .name = item.at("name").text(),
          .bytes = std::move(bytes),
          .initial_word = Expression(0.0, item.where()),
          .output = item.at("is").text(),
          .element_type = type,
          .shape = std::move(shape)};
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

/// Whether an expression names a property of the problem.
bool names(const ExpressionTree& tree, std::string_view name) {
  return (tree.kind == ExpressionTree::Kind::name && tree.word == name) ||
         std::ranges::any_of(tree.operands,
                             [&](const ExpressionTree& part) { return names(part, name); });
}

}  // namespace

bool has(const Problem& problem, const ToldProperty& property) {
  if (property.rule == kToldEightBitQueries.rule) {
    return has_query_scales(problem);
  }
  if (property.rule == kToldEightBitKeys.rule) {
    return has_scales(problem);
  }
  const bool follows = is_packed(problem) && property.detail == kToldKeyLengths.detail;
  return is_unusual(find_detail(property.detail), problem) && !follows;
}

bool takes(const ArgumentRules& rules, const ToldProperty& property) {
  return std::ranges::any_of(rules.steps, [&](const LaunchStep& step) {
    return property.tensor.empty()
               ? std::ranges::any_of(
                     step.values,
                     [&](const Expression& value) { return names(value.tree(), property.detail); })
               : step.call == Call::address && rules.tensor_name(step.tensor) == property.tensor;
  });
}

std::string why_not_taken(std::string_view family, const ToldProperty& property) {
  const std::string missing = property.tensor.empty()
                                  ? std::string("do not name it")
                                  : fmt::format("have no tensor '{}'", property.tensor);
  return fmt::format("{} takes no {}: its arguments {}", family, property.what, missing);
}

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
  const JsonFile standard(nlohmann::json::parse(kStandardArguments), root.origin());
  rules.steps = Reader(symbols, names).arguments(own ? *own : standard.root());
  return rules;
}

std::vector<LaunchStep> read_launch(const JsonNode& node, const SymbolTable& symbols) {
  std::vector<LaunchStep> steps;
  const auto add = [&](Call call, const JsonNode& value) {
    const std::vector<JsonNode> parts =
        value.raw().is_array() ? value.elements() : std::vector{value};
    if (value.raw().is_array() && parts.size() != 3) {
      value.fail("needs three expressions: x, y, z");
    }
    steps.push_back({call, expressions_of(parts, symbols), {}, value.where()});
  };
  const auto add_optional = [&](Call call, const std::optional<JsonNode>& value) {
    if (value) {
      add(call, *value);
    }
  };
  add(Call::block, node.at("block"));
  add(Call::dynamic_smem_bytes, node.at("dynamic_smem_bytes"));
  add(Call::grid, node.at("grid"));
  add_optional(Call::cluster, node.find("cluster"));
  if (const auto attributes = node.find("attributes")) {
    add_optional(Call::cooperative, attributes->find("cooperative"));
    add_optional(Call::programmatic_stream_serialization,
                 attributes->find("programmatic_stream_serialization"));
    add_optional(Call::smem_carveout_percent, attributes->find("smem_carveout_percent"));
  }
  return steps;
}

}  // namespace fatune

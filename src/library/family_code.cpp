#include "library/family_code.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/is_among.hpp"
#include "core/tensor_map_names.hpp"
#include "library/cpp_text.hpp"
#include "library/kernel_key.hpp"
#include "plan/expression_cpp.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

/// The body of one function: its statements, preceded by the quantities that they name.
class Body {
 public:
  explicit Body(const Family& family) : family_(family) {}

  [[nodiscard]] std::string code(const Expression& expression) {
    return cpp_of(expression, [this](std::size_t symbol) { return code_of_symbol(symbol); });
  }
  [[nodiscard]] std::string condition(const Expression& expression) {
    return fmt::format("math::holds({})", code(expression));
  }
  [[nodiscard]] std::string code_of_symbol(std::size_t symbol) {
    if (symbol < family_.parameters.size()) {
      return fmt::format("p[{}]", symbol);
    }
    const bool is_derived =
        std::ranges::find(family_.derived, symbol, &Derived::symbol) != family_.derived.end();
    if (is_derived) {
      needed_.insert(symbol);
    }
    return (is_derived ? "v_" : "f.") + family_.symbols.name(symbol);
  }

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    statements_ +=
        std::string(indent_, ' ') + fmt::format(format, std::forward<Values>(values)...) + '\n';
  }
  void open(const std::string& line) {
    add("{}", line);
    indent_ += 2;
  }
  void middle(const std::string& line) {
    indent_ -= 2;
    open(line);
  }
  void close() {
    indent_ -= 2;
    add("}}");
  }

  [[nodiscard]] std::string text() {
    std::vector<std::string> lines;
    // A quantity may name earlier ones.
    for (std::size_t i = family_.derived.size(); i-- > 0;) {
      const Derived& derived = family_.derived[i];
      if (needed_.contains(derived.symbol)) {
        lines.push_back(
            fmt::format("  const double v_{} = {};\n", derived.name, code(derived.value)));
      }
    }
    std::string text;
    std::for_each(lines.rbegin(), lines.rend(), [&](const std::string& line) { text += line; });
    return text + statements_;
  }

 private:
  const Family& family_;
  std::set<std::size_t> needed_;  ///< symbols of the named quantities
  std::string statements_;
  std::size_t indent_ = 2;
};

std::string function(const std::string& head, Body& body) {
  return fmt::format("{} {{\n{}}}\n\n", head, body.text());
}

std::string refusal_function(const Family& family) {
  Body body(family);
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (const Parameter& parameter = family.parameters[i]; parameter.binds) {
      const char* property = *parameter.binds == ProblemProperty::dtype ? "dtype" : "d_head";
      body.open(fmt::format("if (p[{}] != f.{}) {{", i, property));
      body.add("return \"it is for another {}\";", property);
      body.close();
    }
  }
  for (const ValidityRule& rule : family.validity) {
    body.open(fmt::format("if (!{}) {{", body.condition(rule.must_hold)));
    body.add("return {};", cpp_string(rule.reason.text()));
    body.close();
  }
  body.add("return nullptr;");
  return function(fmt::format("const char* refusal_{}([[maybe_unused]] const double* p, "
                              "[[maybe_unused]] const Facts& f)",
                              family.name),
                  body);
}

std::string key_function(const Family& family) {
  Body body(family);
  const std::vector<KeyPart> parts = key_parts(family);
  body.add("key[0] = f.arch;");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    body.add("key[{}] = {};", i + 1,
             parts[i].expression != nullptr ? body.code(*parts[i].expression)
                                            : body.code_of_symbol(parts[i].symbol));
  }
  body.add("return {};", parts.size() + 1);
  return function(fmt::format("int key_{}([[maybe_unused]] const double* p, const Facts& f, "
                              "double* key)",
                              family.name),
                  body);
}

/// Writes the launch of a family's kernels as calls of a LaunchBuilder.
class LaunchCode {
 public:
  explicit LaunchCode(const Family& family) : family_(family), body_(family) {}

  [[nodiscard]] std::string text() {
    add_extents();
    add_attributes();
    add_buffers();
    if (family_.arguments.standard) {
      body_.add("b.standard_arguments(f);");
    }
    for (const ArgumentRule& rule : family_.arguments.list) {
      body_.add("b.begin_argument();");
      add_item(rule);
      body_.add("b.end_argument();");
    }
    return function(fmt::format("void launch_{}([[maybe_unused]] const double* p, [[maybe_unused]] "
                                "const Facts& f, LaunchBuilder& b)",
                                family_.name),
                    body_);
  }

 private:
  void add_extent(const char* call, const std::array<Expression, 3>& xyz) {
    body_.add("b.{}({}, {}, {});", call, body_.code(xyz[0]), body_.code(xyz[1]),
              body_.code(xyz[2]));
  }

  void add_extents() {
    const LaunchRule& rule = family_.launch;
    add_extent("block", rule.block);
    add_extent("grid", rule.grid);
    if (rule.cluster) {
      add_extent("cluster", *rule.cluster);
    }
    body_.add("b.dynamic_smem_bytes({});", body_.code(rule.dynamic_smem_bytes));
  }

  void add_attributes() {
    const LaunchRule& rule = family_.launch;
    if (rule.cooperative) {
      body_.add("b.cooperative({});", body_.condition(*rule.cooperative));
    }
    if (rule.programmatic_stream_serialization) {
      body_.add("b.programmatic_stream_serialization({});",
                body_.condition(*rule.programmatic_stream_serialization));
    }
    if (rule.smem_carveout_percent) {
      body_.add("b.smem_carveout_percent({});", body_.code(*rule.smem_carveout_percent));
    }
  }

  /// A buffer that no argument points to takes no memory.
  void add_buffers() {
    for (const BufferRule& rule : family_.arguments.buffers) {
      const std::string word = rule.initial_word ? body_.code(*rule.initial_word) : "0.0";
      const std::string call = fmt::format("b.workspace({}, {}, Clear::{});  {}", bytes_of(rule),
                                           word, clear_of(rule), cpp_comment(rule.name));
      const std::string condition = any_use(family_.arguments.list, rule.name);
      if (condition == "true") {
        body_.add("{}", call);
      } else {
        body_.open(fmt::format("if ({}) {{", condition));
        body_.add("{}", call);
        body_.middle("} else {");
        body_.add("b.unused_workspace();");
        body_.close();
      }
    }
  }

  /// The condition under which an argument points to the buffer.
  std::string any_use(const std::vector<ArgumentRule>& rules, const std::string& buffer) {
    std::string any;
    for (const ArgumentRule& rule : rules) {
      const std::string use = rule.kind == ArgumentRule::Kind::structure
                                  ? any_use(rule.items, buffer)
                              : rule.tensor == buffer ? "true"
                                                      : "false";
      if (use == "false") {
        continue;
      }
      const std::string when = rule.when ? body_.condition(*rule.when) : "true";
      if (when == "true" && use == "true") {
        return "true";
      }
      any += (any.empty() ? "" : " || ") + both(when, use);
    }
    return any.empty() ? "false" : any;
  }

  static std::string both(const std::string& a, const std::string& b) {
    return b == "true" ? a : a == "true" ? "(" + b + ")" : fmt::format("({} && ({}))", a, b);
  }

  [[nodiscard]] std::string bytes_of(const BufferRule& rule) {
    if (rule.bytes) {
      return body_.code(*rule.bytes);
    }
    std::string bytes = cpp_number(static_cast<double>(element_bytes_of(rule)));
    for (const Expression& extent : rule.shape) {
      bytes += " * " + body_.code(extent);
    }
    return bytes;
  }

  /// Outputs that were not requested need no clearing.
  static const char* clear_of(const BufferRule& rule) {
    if (!rule.output.empty() || rule.clear == kUnneededClear) {
      return "none";
    }
    return rule.clear == "never" ? "once" : rule.clear == "timed" ? "timed" : "before_launch";
  }

  void add_item(const ArgumentRule& rule) {
    if (rule.when) {
      body_.open(fmt::format("if ({}) {{", body_.condition(*rule.when)));
    }
    switch (rule.kind) {
      case ArgumentRule::Kind::scalar:
        add_scalars(rule);
        break;
      case ArgumentRule::Kind::address:
        add_place(rule, "");
        break;
      case ArgumentRule::Kind::tensor_map:
        add_tensor_map(rule);
        break;
      case ArgumentRule::Kind::structure:
        add_struct(rule);
        break;
    }
    if (rule.when) {
      body_.close();
    }
  }

  void add_scalars(const ArgumentRule& rule) {
    const std::string_view type = rule.scalar->name;
    const std::string_view call = type == "float"    ? "float32"
                                  : type == "double" ? "float64"
                                  : type == "bool"   ? "boolean"
                                                     : type;
    for (const Expression& value : rule.values) {
      const std::string code = body_.code(value);
      const bool names_infinity = code.find("math::kInfinity") != std::string::npos;
      body_.add("b.{}({}{});", call, code, names_infinity ? ", true" : "");
    }
  }

  void add_struct(const ArgumentRule& rule) {
    body_.add("b.begin_struct({});", rule.align ? body_.code(*rule.align) : "0.0");
    for (const ArgumentRule& item : rule.items) {
      add_item(item);
    }
    body_.add("b.end_struct();");
  }

  /// Writes an address, or with `map` a tensor map of it.
  void add_place(const ArgumentRule& rule, const std::string& map) {
    const std::string offset = rule.offset_bytes ? body_.code(*rule.offset_bytes) : "0.0";
    const char* suffix = map.empty() ? "" : "_map";
    if (is_among(rule.tensor, kProblemTensors)) {
      body_.add("b.tensor{}(Operand::{}, {}{});", suffix, rule.tensor, offset, map);
      return;
    }
    const auto& buffers = family_.arguments.buffers;
    const auto buffer = std::ranges::find(buffers, rule.tensor, &BufferRule::name);
    const std::string call =
        fmt::format("b.buffer{}({}, {}{});", suffix, buffer - buffers.begin(), offset, map);
    if (buffer->output == "lse") {
      body_.add("f.lse != 0.0 ? b.tensor{}(Operand::lse, {}{}) : {}", suffix, offset, map, call);
    } else {
      body_.add("{}", call);
    }
  }

  void add_tensor_map(const ArgumentRule& rule) {
    const TensorMapRule& map = *rule.tensor_map;
    body_.open("{");
    body_.add("TensorMap map{{}};");
    body_.add("map.dimensions = {};", map.sizes.size());
    add_numbers("sizes", map.sizes);
    add_numbers("strides_bytes", map.strides_bytes);
    add_numbers("box", map.box);
    if (map.element_strides.empty()) {
      body_.add("for (double& stride : map.element_strides) {{ stride = 1.0; }}");
    }
    add_numbers("element_strides", map.element_strides);
    add_name("element_type", map.element_type, kTensorMapElementTypes);
    add_name("interleave", map.interleave, kTensorMapInterleaves);
    add_name("swizzle", map.swizzle, kTensorMapSwizzles);
    add_name("l2_promotion", map.l2_promotion, kTensorMapL2Promotions);
    add_name("oob_fill", map.oob_fill, kTensorMapOobFills);
    add_place(rule, ", map");
    body_.close();
  }

  void add_numbers(const char* member, const std::vector<Expression>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      body_.add("map.{}[{}] = {};", member, i, body_.code(values[i]));
    }
  }

  /// Writes the driver's number of the first name whose condition holds, or -1 if none does.
  void add_name(const char* member, const Choice<std::string>& choice,
                std::span<const std::string_view> names) {
    std::string code;
    for (const auto& item : choice.items) {
      const std::size_t number = index_of_name(names, item.value);
      if (!item.when) {
        body_.add("map.{} = {}{};", member, code, number);
        return;
      }
      code += fmt::format("{} ? {} : ", body_.condition(*item.when), number);
    }
    body_.add("map.{} = {}-1;", member, code);
  }

  const Family& family_;
  Body body_;
};

}  // namespace

std::string family_code(const Family& family) {
  return refusal_function(family) + key_function(family) + LaunchCode(family).text();
}

bool needs_resident_blocks(const Family& family) {
  return family_code(family).find(std::string("f.") + kResidentBlocks) != std::string::npos;
}

}  // namespace fatune

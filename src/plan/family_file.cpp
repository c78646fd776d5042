#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "plan/estimate_rule.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"
#include "plan/parameter.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "plan/source_bundle.hpp"

namespace fatune {
namespace {

// More than the shared memory of any block.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

/// Evaluates a rule's expressions for one configuration, and rejects impossible values.
class Evaluation {
 public:
  Evaluation(const SharedTensorRule& rule, const std::vector<double>& scope)
      : rule_(rule), scope_(scope) {}

  [[nodiscard]] SharedTensor tensor() const {
    SharedTensor tensor;
    tensor.name = rule_.name;
    tensor.offset_bytes = value(rule_.offset_bytes);
    tensor.stages = value(rule_.stages);
    tensor.rows = value(rule_.rows);
    tensor.columns = positive(rule_.columns);
    tensor.element_bytes = positive(rule_.element_bytes);
    tensor.panel_columns = value_or(rule_.panel_columns, tensor.columns);
    tensor.row_bytes = value_or(rule_.row_bytes, tensor.panel_columns * tensor.element_bytes);
    tensor.stage_bytes = value_or(
        rule_.stage_bytes, tensor.columns / tensor.panel_columns * tensor.rows * tensor.row_bytes);
    add_swizzle(tensor);
    check(tensor);
    return tensor;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, rule_.where);
  }

  [[nodiscard]] std::int64_t value(const Expression& of) const {
    const std::int64_t value = of.integer(scope_);
    if (value < 0 || value > kMostBytes) {
      fail(fmt::format("\"{}\" gives {}, outside 0 to {}", of.text(), value, kMostBytes));
    }
    return value;
  }
  [[nodiscard]] std::int64_t positive(const Expression& of) const {
    if (value(of) == 0) {
      fail(fmt::format("\"{}\" gives 0", of.text()));
    }
    return value(of);
  }
  [[nodiscard]] std::int64_t value_or(const Expression& of, std::int64_t otherwise) const {
    const std::int64_t given = value(of);
    return given == 0 ? otherwise : given;
  }

  void add_swizzle(SharedTensor& tensor) const {
    constexpr std::int64_t kLongestLine = 128;
    constexpr std::array<std::int64_t, 4> kLines{0, 32, 64, kLongestLine};
    tensor.swizzle_bytes = value(rule_.swizzle_bytes);
    if (!is_among(tensor.swizzle_bytes, kLines)) {
      fail(fmt::format("\"{}\" gives a swizzle of {} bytes; it must be 0, 32, 64 or 128",
                       rule_.swizzle_bytes.text(), tensor.swizzle_bytes));
    }
    const std::int64_t line = tensor.swizzle_bytes == 0 ? kLongestLine : tensor.swizzle_bytes;
    tensor.swizzle_rows = value_or(rule_.swizzle_rows, kLongestLine / line);
  }

  void check(const SharedTensor& tensor) const {
    if (tensor.columns % tensor.panel_columns != 0) {
      fail(fmt::format("panels of {} columns do not divide {}", tensor.panel_columns,
                       tensor.columns));
    }
    if (tensor.row_bytes < tensor.panel_columns * tensor.element_bytes) {
      fail(fmt::format("{} bytes from row to row are less than the size of a row",
                       tensor.row_bytes));
    }
    if (tensor.swizzle_bytes > 0 && tensor.row_bytes % tensor.swizzle_bytes != 0) {
      fail(fmt::format("a swizzle of {} bytes does not divide rows of {}", tensor.swizzle_bytes,
                       tensor.row_bytes));
    }
    if (tensor.rows > 0 && tensor.stage_bytes < tensor.columns / tensor.panel_columns *
                                                    tensor.rows * tensor.row_bytes) {
      fail(fmt::format("{} bytes from stage to stage are less than the size of a stage",
                       tensor.stage_bytes));
    }
  }

  const SharedTensorRule& rule_;
  const std::vector<double>& scope_;
};

/// Reads a family's "shared_tensors". Members that an item leaves out have the schema's defaults.
std::vector<SharedTensorRule> read_shared_tensors(const JsonNode& list,
                                                  const SymbolTable& symbols) {
  std::vector<SharedTensorRule> rules;
  for (const JsonNode& item : list.elements()) {
    const auto required = [&](const char* member) { return Expression(item.at(member), symbols); };
    const auto optional = [&](const char* member, double otherwise) {
      return find_expression(item, member, symbols).value_or(Expression(otherwise, item.where()));
    };
    rules.push_back({item.where(), item.at("name").text(), required("offset_bytes"),
                     optional("stages", 1.0), optional("stage_bytes", 0.0), required("rows"),
                     required("columns"), required("element_bytes"), optional("panel_columns", 0.0),
                     optional("row_bytes", 0.0), optional("swizzle_bytes", 0.0),
                     optional("swizzle_rows", 0.0)});
  }
  return rules;
}

/// Reads a name in the kernel's code: an identifier of any length.
std::string code_name(const JsonNode& node) {
  std::string text = node.text();
  if (!is_code_name(text)) {
    node.fail(fmt::format("'{}' is not an identifier", text),
              "use a letter or underscore, then letters, digits and underscores");
  }
  return text;
}

SymbolTable read_symbols(const JsonNode& parameters) {
  SymbolTable symbols;
  for (const JsonNode& node : parameters.elements()) {
    add_symbol(symbols, node.at("name"), {});
  }
  try {
    add_environment_symbols(symbols);
  } catch (const std::invalid_argument& error) {
    parameters.fail(error.what(),
                    "it is a property of the problem or device: rename the parameter");
  }
  return symbols;
}

/// An expression over the symbols of a problem alone.
std::optional<Expression> read_meant_for(const JsonNode& root) {
  const auto node = root.find("meant_for");
  if (!node) {
    return std::nullopt;
  }
  SymbolTable symbols;
  add_environment_symbols(symbols);
  return Expression(*node, symbols, Needs{.problem = true});
}

std::vector<ValidityRule> read_validity(const JsonNode& root, const SymbolTable& symbols) {
  std::vector<ValidityRule> rules;
  for (const JsonNode& node : root.elements_of("validity")) {
    rules.push_back({node.at("id").text(), Expression(node.at("must_hold"), symbols),
                     Reason(node.at("reason"), symbols)});
  }
  return rules;
}

/// Reads the text of a define, which is one line of a preprocessor's input.
Reason read_define_text(const JsonNode& node, const SymbolTable& symbols) {
  const std::string text = node.text();
  const auto is_control = [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; };
  if (std::ranges::any_of(text, is_control)) {
    node.fail("has a control character", "a define is one line of text");
  }
  return Reason(node, symbols);
}

Define::Value read_define_value(const JsonNode& node, const SymbolTable& symbols) {
  if (node.raw().is_null()) {
    return {};
  }
  if (node.raw().is_object()) {
    return read_define_text(node.at("string"), symbols);
  }
  return Expression(node, symbols);
}

std::vector<Define> read_defines(const JsonNode& root, const SymbolTable& symbols) {
  const auto object = root.find("defines");
  std::vector<Define> defines;
  if (!object) {
    return defines;
  }
  for (const auto& [name, node] : object->members()) {
    if (!is_identifier(name)) {
      node.fail(fmt::format("'{}' is not an identifier", name));
    }
    defines.push_back({name, read_choice(node, symbols, [&](const JsonNode& value) {
                         return read_define_value(value, symbols);
                       })});
  }
  return defines;
}

std::optional<DebugRule> read_debug(const JsonNode& root, const SymbolTable& symbols) {
  const auto node = root.find("debug");
  if (!node) {
    return std::nullopt;
  }
  const auto of_parameters = [&](const char* name) {
    return find_expression(*node, name, symbols, Needs{});
  };
  return DebugRule{read_identifier(node->at("define")),
                   {node->at("query_rows"), symbols, Needs{}},
                   {node->at("keys_per_step"), symbols, Needs{}},
                   node->at("step_order").text() == "last_to_first" ? StepOrder::last_to_first
                                                                    : StepOrder::first_to_last,
                   {node->at("reference_slack_log2"), symbols, Needs{}},
                   of_parameters("steps_per_part"),
                   of_parameters("queries"),
                   of_parameters("keys")};
}

std::optional<KernelNameForm> read_kernel_name(const JsonNode& root) {
  const auto node = root.find("kernel_name");
  if (!node) {
    return std::nullopt;
  }
  return KernelNameForm{code_name(node->at("function")), code_name(node->at("config"))};
}

EntryPoint read_entry(const JsonNode& root, const JsonNode& node) {
  if (node.at("kind").text() == "template") {
    if (!root.find("kernel_name")) {
      node.fail("a template entry needs \"kernel_name\"", "it is instantiated as kernel_name says");
    }
    if (node.find("name") || node.find("parameter_defines")) {
      node.fail("a template entry must have neither 'name' nor 'parameter_defines'",
                "its name is that of kernel_name, and its parameters are template arguments");
    }
    return {true, {}, {}};
  }
  const auto prefix = node.find("parameter_defines");
  return {false, code_name(node.at("name")),
          prefix ? std::optional(read_identifier(*prefix)) : std::nullopt};
}

/// Reads the family's compiler options. `allowed`: those that the user allows besides plain ones.
class OptionReader {
 public:
  OptionReader(const SymbolTable& symbols, const std::vector<std::string>& allowed)
      : symbols_(symbols), allowed_(allowed) {}

  [[nodiscard]] std::vector<Choice<std::string>> read(const JsonNode& root) const {
    return mapped(root.elements_of("options"),
                  [&](const JsonNode& node) { return read_item(node); });
  }

 private:
  /// Reads an option, or {"when": expression, "value": option}.
  [[nodiscard]] Choice<std::string> read_item(const JsonNode& node) const {
    if (!node.raw().is_object()) {
      return {node.where(), {{std::nullopt, read_option(node)}}};
    }
    return {node.where(), {{Expression(node.at("when"), symbols_), read_option(node.at("value"))}}};
  }

  [[nodiscard]] std::string read_option(const JsonNode& node) const {
    std::string option = node.text();
    if (!is_plain_compiler_option(option) && !is_among(option, allowed_)) {
      node.fail(
          fmt::format("'{}' is not among the compiler options that a family may set", option),
          fmt::format("it may set {}; if you trust the family: {} (fatune itself sets "
                      "architecture and defines; --include names folders)",
                      plain_compiler_options(option), shell_word("--allow-option=" + option)));
    }
    return option;
  }

  const SymbolTable& symbols_;
  const std::vector<std::string>& allowed_;
};

Arch read_min_arch(const JsonNode& node) {
  try {
    return parse_arch(node.text());
  } catch (const Error& error) {
    node.fail(error.what());
  }
}

Family read_family(const FileTree& tree, const std::string& name, const JsonNode& root,
                   const FamilyOptions& user) {
  if (read_identifier(root.at("name")) != name) {
    root.at("name").fail(
        fmt::format("'{}' is not the folder's name '{}'", root.at("name").text(), name));
  }
  SymbolTable symbols = read_symbols(root.at("parameters"));
  std::vector<Parameter> parameters = read_parameters(root.at("parameters"));
  ShortForm form = read_short_form(root.at("short_form"), parameters);
  std::vector<Derived> derived = read_derived(root.elements_of("derived"), symbols);
  std::vector<Define> defines = read_defines(root, symbols);
  std::vector<ValidityRule> validity = read_validity(root, symbols);
  add_occupancy_symbol(symbols);
  std::vector<LaunchStep> launch = read_launch(root.at("launch"), symbols);
  ArgumentRules arguments = read_argument_rules(root, symbols);
  std::optional<DebugRule> debug = read_debug(root, symbols);
  auto usual_d_head_v = find_expression(root, "usual_d_head_v", symbols, Needs{});
  auto usual_latent = find_expression(root, "usual_latent", symbols, Needs{});
  const auto tensors = root.find("shared_tensors");
  std::vector<SharedTensorRule> shared_tensors;
  if (tensors) {
    shared_tensors = read_shared_tensors(*tensors, symbols);
  }
  EstimateRule estimate = read_estimate(root, parameters, symbols);
  auto entry = read_choice(root.at("entry"), symbols,
                           [&](const JsonNode& node) { return read_entry(root, node); });
  auto options = OptionReader(symbols, user.compiler_options).read(root);
  auto sources = read_choice(root.at("source"), symbols, [&](const JsonNode& source) {
    return load_sources(tree, name, root, source, user.include_paths);
  });
  return {.name = name,
          .file = {},
          .summary = root.at("summary").text(),
          .min_arch = read_min_arch(root.at("min_arch")),
          .meant_for = read_meant_for(root),
          .usual_d_head_v = std::move(usual_d_head_v),
          .usual_latent = std::move(usual_latent),
          .default_space = root.at("default_space").text(),
          .parameters = std::move(parameters),
          .short_form = std::move(form),
          .kernel_name = read_kernel_name(root),
          .entry = std::move(entry),
          .options = std::move(options),
          .sources = std::move(sources),
          .symbols = std::move(symbols),
          .derived = std::move(derived),
          .defines = std::move(defines),
          .launch = std::move(launch),
          .arguments = std::move(arguments),
          .debug = std::move(debug),
          .shared_tensors = std::move(shared_tensors),
          .validity = std::move(validity),
          .estimate = std::move(estimate)};
}

}  // namespace

Family load_family(const FileTree& tree, std::string_view name, const FamilyOptions& user) {
  const std::vector<std::string> names = family_names(tree);
  if (!is_among(name, names)) {
    throw Error(ExitCode::usage, fmt::format("there is no kernel family '{}'", name), {},
                fmt::format("families: {}; --kernel-dir adds others", fmt::join(names, ", ")));
  }
  const JsonFile file = load_json(tree, fmt::format("kernels/{}/family.json", name), "family");
  Family family = read_family(tree, std::string(name), file.root(), user);
  family.file = file.origin();
  family.definition = sha256_hex(file.root().raw().dump());
  return family;
}

std::vector<SharedTensor> shared_tensors(const ConfigCase& of) {
  const std::vector<double> scope = make_scope(of);
  return mapped(of.family.shared_tensors,
                [&](const SharedTensorRule& rule) { return Evaluation(rule, scope).tensor(); });
}

}  // namespace fatune

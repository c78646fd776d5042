#include "choose/library.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "plan/expression.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "runtime/launch_builder.hpp"

namespace fatune {
namespace {

/// Whether it differs between problems or devices. Parameters alone do not.
bool varies(Needs needs) { return !needs.within({}); }

class Parts {
 public:
  explicit Parts(const Family& family) : family_(family) {}

  void add(const Expression& expression) {
    if (varies(expression.needs())) {
      found_.push_back({&expression, 0});
    }
  }
  void add(const Reason& text) {
    for (const Reason::Hole& hole : text.holes()) {
      if (hole.expression) {
        add(*hole.expression);
      } else if (varies(family_.symbols.needs(hole.symbol))) {
        found_.push_back({nullptr, hole.symbol});
      }
    }
  }
  template <typename Value>
  void add_conditions(const Choice<Value>& choice) {
    for (const auto& item : choice.items) {
      if (item.when) {
        add(*item.when);
      }
    }
  }
  void add(const Define& define) {
    add_conditions(define.value);
    for (const auto& item : define.value.items) {
      if (const auto* number = std::get_if<Expression>(&item.value)) {
        add(*number);
      } else if (const auto* text = std::get_if<Reason>(&item.value)) {
        add(*text);
      }
    }
  }
  [[nodiscard]] std::vector<KeyPart> found() && { return std::move(found_); }

 private:
  const Family& family_;
  std::vector<KeyPart> found_;
};

constexpr int kLeastLog2 = 4;
constexpr int kMostLog2 = 17;
constexpr std::int64_t kStep = 16;
constexpr std::int64_t kMostTile = 512;
constexpr std::int64_t kLong = 4096;

/// Powers of two, and short and long multiples of 16. Tiles of every size divide some of them.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all;
  for (int log2 = kLeastLog2; log2 <= kMostLog2; ++log2) {
    all.push_back(std::int64_t{1} << log2);
  }
  for (std::int64_t length = kStep; length <= kMostTile; length += kStep) {
    all.push_back(length);
    all.push_back(kLong + length);
  }
  return all;
}

std::vector<Problem> with_other_lengths(const Problem& tuned) {
  std::vector<Problem> problems{tuned};
  const auto add = [&](std::int64_t queries, std::int64_t keys) {
    Problem& other = problems.emplace_back(tuned);
    other.seq_len = queries;
    other.seq_len_kv = keys;
  };
  for (const std::int64_t length : lengths()) {
    for (const std::int64_t keys : {length, length - 1}) {
      add(keys, keys);
      add(length / 2, keys);
    }
  }
  return problems;
}

/// Whether the row has the configuration's time, or the configuration is the row's default.
bool serves(const TunedTable& table, const TunedProblem& row, const Config& config) {
  return row.find(config) != row.times.end() ||
         std::ranges::any_of(table.defaults, [&](const DefaultConfig& known) {
           return known.config == config && is_default_of(known, row);
         });
}

/// Adds the problems that differ from these in what shares a scale and that the same rows answer
/// for.
void add_other_scales(std::vector<Problem>& forms) {
  constexpr std::array kAll{KvScales::tensor, KvScales::head, KvScales::token, KvScales::page};
  const auto kind = [](const Problem& problem) {
    return fatune_attention::detail::kv_kind_of(runtime_problem(problem));
  };
  const std::vector<Problem> own = forms;
  for (const Problem& form : filtered(own, has_scales)) {
    for (const KvScales scales : kAll) {
      Problem other = form;
      other.kv_scales = scales;
      if (other != form && kind(other) == kind(form) &&
          (scales != KvScales::page || has_pages(form))) {
        forms.push_back(std::move(other));
      }
    }
  }
}

/// The problem as calls of a library may have it: in pages or not, with what may share scales
/// there, and each of these with lengths of keys, and packed, as far as the family takes such
/// problems.
std::vector<Problem> forms_of(const Problem& problem, const Family& family,
                              const LibraryFeatures& features) {
  std::vector<Problem> forms{problem};
  if (takes(family.arguments, kToldPages)) {
    for (const std::int64_t page_size : features.page_sizes) {
      forms.push_back(problem);
      forms.back().page_size = page_size;
    }
  }
  add_other_scales(forms);
  const std::vector<Problem> equal = forms;
  if (takes(family.arguments, kToldKeyLengths)) {
    std::ranges::transform(equal, std::back_inserter(forms), with_unknown_kv_lengths);
  }
  if (features.packed && takes(family.arguments, kToldPacked)) {
    std::ranges::transform(equal, std::back_inserter(forms), with_unknown_lengths);
  }
  return forms;
}

/// The body of one function: its statements, preceded by the quantities that they name.
class Body {
 public:
  explicit Body(const Family& family) : family_(family), quantities_(family.derived) {
    if (const auto& model = family.estimate.model) {
      quantities_.insert(quantities_.end(), model->quantities.begin(), model->quantities.end());
    }
  }

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
    if (std::ranges::find(quantities_, symbol, &Derived::symbol) != quantities_.end()) {
      needed_.insert(symbol);
      return "v_" + family_.symbols.name(symbol);
    }
    const auto& model = family_.estimate.model;
    const bool is_row = model && symbol == model->schedule.row_symbol;
    return (is_row ? "" : "f.") + family_.symbols.name(symbol);
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
  void close() {
    indent_ -= 2;
    add("}}");
  }

  [[nodiscard]] std::string text() {
    std::vector<std::string> lines;
    // A quantity may name earlier ones.
    for (std::size_t i = quantities_.size(); i-- > 0;) {
      const Derived& derived = quantities_[i];
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
  std::vector<Derived> quantities_;  ///< those that expressions may name, in order
  std::set<std::size_t> needed_;     ///< symbols of the named quantities
  std::string statements_;
  std::size_t indent_ = 2;
};

std::string function(const std::string& head, Body& body) {
  return fmt::format("{} {{\n{}}}\n\n", head, body.text());
}

std::string refusal_function(const Family& family) {
  Body body(family);
  for (const ToldProperty& property : kToldProperties) {
    // No problem of a library has a Q of 8 bits (runtime/facts.cpp).
    const bool is_of_no_library = property.rule == kToldEightBitQueries.rule;
    if (!takes(family.arguments, property) && !is_of_no_library) {
      const std::string usual =
          property.usual.empty() ? "0.0" : fmt::format("f.{}", property.usual);
      body.open(fmt::format("if (f.{} != {}) {{", find_detail(property.detail).symbol, usual));
      body.add("return \"its kernels take no {}\";", property.what);
      body.close();
    }
  }
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

// In the order of LaunchCall.
constexpr std::array<std::string_view, 26> kCallNames{"block",
                                                      "dynamic_smem_bytes",
                                                      "grid",
                                                      "cluster",
                                                      "cooperative",
                                                      "programmatic_stream_serialization",
                                                      "smem_carveout_percent",
                                                      "begin_argument",
                                                      "end_argument",
                                                      "begin_struct",
                                                      "end_struct",
                                                      "int8",
                                                      "uint8",
                                                      "int16",
                                                      "uint16",
                                                      "int32",
                                                      "uint32",
                                                      "int64",
                                                      "uint64",
                                                      "boolean",
                                                      "float32",
                                                      "float64",
                                                      "float32_or_infinity",
                                                      "float64_or_infinity",
                                                      "address",
                                                      "tensor_map"};
static_assert(static_cast<std::size_t>(LaunchCall::tensor_map) == kCallNames.size() - 1);

/// Writes the launch of a family's kernels as calls of a LaunchBuilder.
class LaunchCode {
 public:
  explicit LaunchCode(const Family& family) : rules_(family.arguments), body_(family) {
    for (const LaunchStep& step : family.launch) {
      add_step(step);
    }
    for (std::size_t i = 0; i < rules_.buffers.size(); ++i) {
      add_buffer(rules_.buffers[i], condition_of_use(kProblemTensors.size() + i));
    }
    for (const LaunchStep& step : rules_.steps) {
      add_step(step);
    }
  }

  [[nodiscard]] Body& body() { return body_; }

 private:
  /// Writes the statements under the condition. Empty: always.
  template <typename Statements>
  void add_if(const std::string& condition, Statements statements) {
    if (!condition.empty()) {
      body_.open(fmt::format("if ({}) {{", condition));
    }
    statements();
    if (!condition.empty()) {
      body_.close();
    }
  }

  /// Whether an argument points to the tensor. Empty: always.
  [[nodiscard]] std::string condition_of_use(std::size_t tensor) {
    std::vector<std::string> conditions;
    for (const LaunchStep& step : rules_.steps) {
      if (step.tensor == tensor) {
        if (!step.when) {
          return {};
        }
        conditions.push_back(body_.condition(*step.when));
      }
    }
    return conditions.empty() ? "false" : joined(conditions, " || ");
  }

  void add_step(const LaunchStep& step) {
    add_if(step.when ? body_.condition(*step.when) : std::string(), [&] {
      body_.add("b.add(Call::{}, {{{}}}{});", kCallNames.at(static_cast<std::size_t>(step.call)),
                joined(step.values, ", ", [&](const Expression& one) { return body_.code(one); }),
                operand(step));
    });
  }

  [[nodiscard]] std::string operand(const LaunchStep& step) const {
    if (step.call != LaunchCall::address && step.call != LaunchCall::tensor_map) {
      return "";
    }
    if (step.tensor < kProblemTensors.size()) {
      return fmt::format(", Operand::{}", kProblemTensors.at(step.tensor));
    }
    const std::size_t index = step.tensor - kProblemTensors.size();
    return fmt::format(
        ", {}buffer({})",
        rules_.buffers.at(index).output == "lse" ? "f.lse != 0.0 ? Operand::lse : " : "", index);
  }

  /// A buffer that no argument points to takes no memory.
  void add_buffer(const BufferRule& rule, const std::string& condition) {
    const auto add = [&] {
      body_.add("b.workspace({}, {}, Clear::{});  {}", body_.code(rule.bytes),
                body_.code(rule.initial_word), clear_of(rule), cpp_comment(rule.name));
    };
    add_if(condition, add);
    if (!condition.empty()) {
      body_.open("else {");
      body_.add("b.unused_workspace();");
      body_.close();
    }
  }

  /// Outputs that were not requested need no clearing.
  static const char* clear_of(const BufferRule& rule) {
    if (!rule.output.empty() || rule.clear == kUnneededClear) {
      return "none";
    }
    return rule.clear == "never" ? "once" : rule.clear == "timed" ? "timed" : "before_launch";
  }

  const ArgumentRules& rules_;
  Body body_;
};

std::string launch_function(const Family& family) {
  LaunchCode code(family);
  return function(fmt::format("void launch_{}([[maybe_unused]] const double* p, [[maybe_unused]] "
                              "const Facts& f, LaunchBuilder& b)",
                              family.name),
                  code.body());
}

/// Empty: the family has no model of its time.
std::string time_function(const Family& family) {
  if (!family.estimate.model) {
    return "";
  }
  const TimeModelRule& model = *family.estimate.model;
  const TileScheduleRule& schedule = model.schedule;
  Body body(family);
  body.add("m.launch_clocks = {};", body.code(model.launch_clocks));
  body.add("m.tile_clocks = {};", body.code(model.tile_clocks));
  body.add("m.step_clocks = {};", body.code(model.step_clocks));
  if (model.memory_clocks) {
    body.add("m.memory_clocks = {};", body.code(*model.memory_clocks));
  }
  std::string order;
  for (const auto& item : schedule.order.items) {
    order += (item.when ? body.condition(*item.when) + " ? " : std::string()) +
             fmt::format("TileOrder{{{}}}", static_cast<int>(item.value)) +
             (item.when ? " : " : "");
  }
  body.add("m.schedule.order = {}{};", order,
           schedule.order.items.back().when ? "TileOrder::even" : "");
  body.add("m.schedule.sms = count_of({});", body.code(schedule.sms));
  body.add("m.schedule.heads = count_of({});", body.code(schedule.heads));
  body.add("m.schedule.section_heads = count_of({});", body.code(schedule.section_heads));
  body.add("m.schedule.list_rows(count_of({}));", body.code(schedule.rows));
  body.open("for (int i = 0; i < m.schedule.rows; ++i) {");
  body.add("[[maybe_unused]] const double row = m.schedule.row(i);");
  body.add("m.schedule.row_steps[i] = {};", body.code(schedule.steps));
  body.close();
  return function(fmt::format("void time_{}([[maybe_unused]] const double* p, [[maybe_unused]] "
                              "const Facts& f, TimeModel& m)",
                              family.name),
                  body);
}

void add_case(const KernelCase& one, const Family& family, const Config& config,
              KernelCases& cases) {
  if (!check_valid(family, config, &one.problem, one.device)) {
    cases.emplace(kernel_key(family, config, one.problem, *one.device), one);
  }
}

/// Adds those of all forms_of() a problem.
void add_forms(const Problem& problem, const DeviceLimits& device, const Family& family,
               const Config& config, const LibraryFeatures& features, KernelCases& cases) {
  for (Problem& form : forms_of(problem, family, features)) {
    add_case({std::move(form), &device}, family, config, cases);
  }
}

/// Adds those of a row that has the configuration's time.
void add_cases(const TunedProblem& row, const DeviceLimits& device, const Family& family,
               const Config& config, const LibraryFeatures& features, KernelCases& cases) {
  for (Problem problem : with_other_lengths(row.problem)) {
    for (const bool lse : {row.problem.lse, !row.problem.lse}) {
      problem.lse = lse;
      add_forms(problem, device, family, config, features, cases);
    }
  }
}

/// Numbers of heads that share one of K and V.
using Groups = std::set<std::int64_t>;

/// Those of the tuned problems of each kernel_kind().
std::map<fatune_attention::detail::Kind, Groups> tuned_groups(const TunedTable& table) {
  std::map<fatune_attention::detail::Kind, Groups> groups;
  for (const TunedProblem& row : table.problems) {
    groups[kernel_kind(row)].insert(row.problem.heads / row.problem.kv_heads);
  }
  return groups;
}

/// Whether machine code for the problem is that for any number of heads in groups of this size.
bool serves_all_heads(const Problem& problem, const DeviceLimits& device, const Family& family,
                      const Config& config) {
  Problem more = problem;
  more.heads *= 2;
  more.kv_heads *= 2;
  return kernel_key(family, config, more, device) == kernel_key(family, config, problem, device);
}

/// Adds the cases of the row's problem in groups of other sizes.
void add_groups(const TunedProblem& row, const Groups& groups, const DeviceLimits& device,
                const Family& family, const Config& config, const LibraryFeatures& features,
                KernelCases& cases) {
  if (!serves_all_heads(row.problem, device, family, config)) {
    return;
  }
  for (const std::int64_t group : groups) {
    Problem problem = row.problem;
    problem.heads = problem.kv_heads * group;
    add_forms(problem, device, family, config, features, cases);
  }
}

}  // namespace

std::vector<KeyPart> key_parts(const Family& family) {
  Parts parts(family);
  parts.add_conditions(family.sources);
  parts.add_conditions(family.entry);
  for (const auto& option : family.options) {
    parts.add_conditions(option);
  }
  for (const Define& define : family.defines) {
    parts.add(define);
  }
  return std::move(parts).found();
}

std::vector<double> kernel_key(const Family& family, const Config& config, const Problem& problem,
                               const DeviceLimits& limits) {
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  std::vector<double> key{static_cast<double>(limits.arch.sm)};
  for (const KeyPart& part : key_parts(family)) {
    key.push_back(part.expression != nullptr ? part.expression->number(scope) : scope[part.symbol]);
  }
  return key;
}

std::size_t key_length(const Family& family) { return 1 + key_parts(family).size(); }

std::vector<KernelCases> kernel_cases(const TunedTable& table, const FamilySet& families,
                                      const std::vector<const Config*>& configs,
                                      const LibraryFeatures& features) {
  const auto groups = tuned_groups(table);
  std::map<Config, KernelCases> own;  // of all configurations that share a fit, by without_rest()
  for (const Config* config : configs) {
    KernelCases& shared = own[without_rest(table, *config)];
    for (const TunedProblem& row : table.problems) {
      if (serves(table, row, *config)) {
        const DeviceLimits& device = table.gpus.at(row.gpu);
        const Family& family = families.of(*config);
        add_cases(row, device, family, *config, features, shared);
        add_groups(row, groups.at(kernel_kind(row)), device, family, *config, features, shared);
      }
    }
  }
  return mapped(configs, [&](const Config* config) {
    KernelCases cases;
    for (const auto& [key, one] : own.at(without_rest(table, *config))) {
      add_case(one, families.of(*config), *config, cases);
    }
    return cases;
  });
}

std::string cpp_string(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += fmt::format("\\{}", c);
    } else if (c < ' ' || c > '~') {
      // Three octal digits, so that a following digit is not part of the escape.
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + '"';
}

std::string cpp_comment(std::string_view text) {
  std::string comment = "// " + visible_line(text);
  std::ranges::replace(comment, '\\', '/');  // at the end of a line, it would continue the comment
  return comment;
}

std::string family_code(const Family& family) {
  return refusal_function(family) + key_function(family) + launch_function(family) +
         time_function(family);
}

bool needs_resident_blocks(const Family& family) {
  return family_code(family).find(std::string("f.") + kResidentBlocks) != std::string::npos;
}

}  // namespace fatune

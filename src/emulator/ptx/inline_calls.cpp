#include "emulator/ptx/parse_ptx.hpp"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

// The greatest size of the result. Functions that each call others more than once would grow it
// without bounds.
constexpr std::size_t kMostInlined = 2'000'000;
constexpr std::size_t kMostRegisters = 2'000'000;
constexpr std::size_t kMostCopies = 100'000;
constexpr std::size_t kDeepest = 200;

using Renames = std::map<std::string, std::string, std::less<>>;

bool is_name_character(char c) { return is_word_character(c) || c == '$' || c == '%'; }

/// The text with each whole name replaced that has another one in `names`.
std::string renamed(std::string_view text, const Renames& names) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_name_character(text[end])) {
      ++end;
    }
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string* const other = value_at(names, text.substr(at, end - at));
    result += other == nullptr ? text.substr(at, end - at) : std::string_view(*other);
    at = end;
  }
  return result;
}

std::vector<std::string> all_renamed(const std::vector<std::string>& texts, const Renames& names) {
  return mapped(texts, [&](const std::string& text) { return renamed(text, names); });
}

/// The name in a declaration: "x" in ".param .align 8 .b8 x[16]".
std::string declared_name(std::string_view declaration) {
  const std::string_view text = trim(declaration.substr(0, declaration.find_first_of("[=")));
  const std::size_t blank = text.find_last_of(" \t");
  return std::string(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

/// The items of "(a, b)"; nothing for other text.
std::vector<std::string> listed(std::string_view text) {
  return text.size() >= 2 && text.front() == '(' && text.back() == ')'
             ? split_operands(text.substr(1, text.size() - 2))
             : std::vector<std::string>();
}

/// The operands of a call: "(result), function, (arguments)"; results and arguments may be missing.
struct Call {
  std::vector<std::string> results;
  std::string callee;
  std::vector<std::string> arguments;
};

std::optional<Call> call_of(const PtxStatement& statement) {
  const std::vector<std::string>& operands = statement.operands;
  if ((statement.opcode != "call" && statement.opcode != "call.uni") || operands.empty()) {
    return std::nullopt;
  }
  Call call;
  const std::size_t name = operands[0].starts_with('(') ? 1 : 0;
  if (name >= operands.size() || operands.size() > name + 2) {
    return std::nullopt;  // through a pointer: a prototype follows
  }
  call.results = name == 1 ? listed(operands[0]) : std::vector<std::string>();
  call.callee = operands[name];
  call.arguments = name + 1 < operands.size() ? listed(operands[name + 1]) : call.arguments;
  return call;
}

/// The names of a function's results and parameters.
struct Signature {
  std::vector<std::string> results;
  std::vector<std::string> parameters;
};

std::vector<std::string> names_between(std::string_view header) {
  return mapped(split_operands(between(header, "(", ")")), declared_name);
}

/// Returns nothing for a kernel, and for a function that passes registers.
std::optional<Signature> signature_of(const PtxFunction& function) {
  const std::string_view header = function.header;
  if (contains(header, ".reg") || !contains(header, ".func")) {
    return std::nullopt;
  }
  Signature signature;
  std::string_view after = trim(header.substr(header.find(".func") + 5));
  if (after.starts_with('(')) {
    signature.results = names_between(after);
    take_until(after, ')');
  }
  signature.parameters = names_between(after);
  return signature;
}

class Inliner {
 public:
  Inliner(const PtxModule& module, const PtxFunction& function)
      : module_(module), function_(function) {
    result_.function.name = function.name;
    result_.function.header = function.header;
  }

  InlinedFunction run() {
    stack_.push_back(&function_);
    add(function_, {});
    if (!labels_.empty()) {  // labels at the very end, or after a call there
      PtxStatement end;
      end.text = end.opcode = "ret";
      end.line = function_.statements.empty() ? 0 : function_.statements.back().line;
      push(std::move(end));
    }
    return std::move(result_);
  }

 private:
  /// One copy of a function's statements.
  struct Copy {
    Renames names;              ///< labels, lists, parameters
    std::string end;            ///< the label after it; empty for the kernel itself
    std::size_t registers = 0;  ///< index of its first register
  };

  void add(const PtxFunction& function, Copy copy) {
    PtxFunction& to = result_.function;
    copy.registers = to.registers.size();
    require(copy.registers + function.registers.size() <= kMostRegisters);
    append(to.registers, function.registers);
    append(to.register_types, function.register_types);
    for (const std::string& text : function.declarations) {
      const std::string declaration = renamed(text, copy.names);
      if (declared_.insert(function.name + declaration).second) {
        to.declarations.push_back(declaration);
      }
    }
    for (const auto& [name, labels] : function.branch_targets) {
      append(to.branch_targets[renamed(name, copy.names)], all_renamed(labels, copy.names));
    }
    for (std::size_t i = 0; i < function.statements.size(); ++i) {
      origin_ = stack_.size() == 1 ? i : origin_;
      add_statement(function.statements[i], copy);
    }
    append(labels_, all_renamed(function.end_labels, copy.names));
  }

  void add_statement(const PtxStatement& original, const Copy& copy) {
    PtxStatement statement = original;
    for (auto* const indices : {&statement.writes, &statement.reads}) {
      for (std::size_t& index : *indices) {
        index += copy.registers;
      }
    }
    for (auto* const texts : {&statement.labels, &statement.operands, &statement.names}) {
      *texts = all_renamed(*texts, copy.names);
    }
    const std::optional<Call> call = call_of(statement);
    const PtxFunction* const callee = call ? find(call->callee) : nullptr;
    if (callee != nullptr && add_call(statement, *call, *callee)) {
      return;
    }
    if (!copy.end.empty() && (statement.opcode == "ret" || statement.opcode == "ret.uni")) {
      statement.opcode = "bra";
      statement.operands = {copy.end};
    }
    push(std::move(statement));
  }

  bool add_call(const PtxStatement& statement, const Call& call, const PtxFunction& callee) {
    const auto signature = signature_of(callee);
    if (!signature || signature->results.size() != call.results.size() ||
        signature->parameters.size() != call.arguments.size()) {
      return false;
    }
    require(++copies_ <= kMostCopies && stack_.size() < kDeepest);
    const std::string suffix = fmt::format("$call{}", copies_);
    Copy copy;
    copy.end = "$end" + suffix;
    add_renames(callee, suffix, copy.names);
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      copy.names[signature->results[i]] = call.results[i];
    }
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      copy.names[signature->parameters[i]] = call.arguments[i];
    }
    append(labels_, statement.labels);
    if (!statement.guard.empty()) {
      push(skip(statement, copy.end));
    }
    stack_.push_back(&callee);
    add(callee, copy);
    stack_.pop_back();
    labels_.push_back(copy.end);
    return true;
  }

  /// The branch that skips a guarded call.
  static PtxStatement skip(const PtxStatement& call, const std::string& end) {
    PtxStatement branch = call;
    branch.labels.clear();
    branch.guard = call.guard.starts_with('!') ? call.guard.substr(1) : "!" + call.guard;
    branch.opcode = "bra";
    branch.operands = {end};
    return branch;
  }

  static void add_renames(const PtxFunction& callee, const std::string& suffix, Renames& names) {
    for (const std::string& label : callee.end_labels) {
      names[label] = label + suffix;
    }
    for (const PtxStatement& statement : callee.statements) {
      for (const std::string& label : statement.labels) {
        names[label] = label + suffix;
      }
    }
    for (const auto& [name, labels] : callee.branch_targets) {
      names[name] = name + suffix;
    }
    for (const std::string& text : callee.declarations) {
      if (const std::string name = declared_name(text); text.starts_with(".param")) {
        names[name] = name + suffix;
      }
    }
  }

  /// Returns null if the function is not defined here or is already being inlined.
  [[nodiscard]] const PtxFunction* find(const std::string& name) const {
    const PtxFunction* const found = find_in(module_.functions, name, &PtxFunction::name);
    return is_among(found, stack_) ? nullptr : found;
  }

  void require(bool fits) const {
    if (!fits) {
      throw Error(ExitCode::bad_file, "it is too long with the functions that it calls",
                  function_.name);
    }
  }

  void push(PtxStatement statement) {
    require(result_.statements.size() < kMostInlined);
    statement.labels.insert(statement.labels.begin(), labels_.begin(), labels_.end());
    labels_.clear();
    result_.function.statements.push_back(std::move(statement));
    result_.statements.push_back(origin_);
  }

  const PtxModule& module_;
  const PtxFunction& function_;
  InlinedFunction result_;
  std::vector<const PtxFunction*> stack_;
  std::vector<std::string> labels_;  ///< labels of the next statement
  std::set<std::string> declared_;
  std::size_t copies_ = 0;
  std::size_t origin_ = 0;
};

}  // namespace

InlinedFunction inline_calls(const PtxModule& module, const PtxFunction& function) {
  return Inliner(module, function).run();
}

}  // namespace fatune

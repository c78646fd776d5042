#include "emulator/ptx/parse_ptx.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "emulator/ptx/scopes.hpp"
#include "emulator/ptx/source_places.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostStatements = 2'000'000;
constexpr std::size_t kDeepestScope = 1000;
constexpr std::string_view kBranchTargets = ".branchtargets";
constexpr const char* kExpected = "expected PTX as NVRTC writes it";

/// Replaces blanks and line separators by single blanks.
std::string joined(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return std::string(trim(line));
}

bool has_word(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at != std::string_view::npos &&
         (at + word.size() == text.size() || text[at + word.size()] == ' ');
}

bool is_function_header(std::string_view text) {
  constexpr std::size_t kFarthest = 1000;  // the word is near the front, whatever follows
  text = text.substr(0, kFarthest);
  return has_word(text, ".entry") || has_word(text, ".func");
}

/// The name in ".visible .entry name(...)" or ".func (.reg .b32 r) name (...)".
std::string name_of(std::string_view header) {
  const bool is_kernel = has_word(header, ".entry");
  const std::string_view word = is_kernel ? ".entry" : ".func";
  header = trim(header.substr(header.find(word) + word.size()));
  if (header.starts_with('(')) {
    header = trim(header.substr(std::min(header.size(), header.find(')') + 1)));
  }
  return std::string(header.substr(0, header.find_first_of(" (")));
}

bool is_label(std::string_view text) {
  return !text.empty() && text.find_first_of(" .,([") == std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

  PtxModule parse() {
    while (!rest_.empty()) {
      ++line_number_;
      read_line(take_until(rest_, '\n'));
    }
    if (!trim(pending_).empty() || scopes_.depth() > 0 || in_comment_) {
      fail("the PTX is cut off");
    }
    if (module_.functions.empty()) {
      fail("there is no function in this PTX");
    }
    module_.places = lines_.places();
    return std::move(module_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, fmt::format("{}, line {}", origin_, line_number_),
                kExpected);
  }

  void read_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      fail("this is not text");
    }
    const std::string code = without_comments(line);
    const std::string_view text = trim(code);
    if (in_section_) {
      in_section_ = text.find('}') == std::string_view::npos;
    } else if (!pending_.empty() || !read_line_directive(text)) {
      for (const char c : text) {
        read_character(c);
      }
      end_pending_line();
    }
  }

  void end_pending_line() {
    if (trim(pending_).empty()) {
      pending_.clear();
    } else {
      pending_ += ' ';
    }
  }

  std::string without_comments(std::string_view line) {
    std::string code;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view pair = line.substr(i, 2);
      if (in_comment_) {
        in_comment_ = pair != "*/";
        i += in_comment_ ? 0 : 1;
      } else if (!quoted && pair == "//") {
        break;
      } else if (!quoted && pair == "/*") {
        in_comment_ = true;
        ++i;
      } else {
        quoted = quoted != (line[i] == '"');
        code += line[i];
      }
    }
    return code;
  }

  /// Reads a directive that ends with its line. Returns false for other text.
  bool read_line_directive(std::string_view text) {
    constexpr std::array<std::string_view, 3> kIgnored{".version", ".target", ".address_size"};
    if (text.starts_with(".loc ") || text.starts_with(".loc\t")) {  // not ".local"
      lines_.read_loc(text);
    } else if (text.starts_with(".file")) {
      lines_.read_file(text);
    } else if (text.starts_with(".section")) {
      in_section_ = text.find('}') == std::string_view::npos;
    } else {
      return std::ranges::any_of(kIgnored,
                                 [&](std::string_view word) { return text.starts_with(word); });
    }
    return true;
  }

  void read_character(char c) {
    quoted_ = quoted_ != (c == '"');
    const std::string_view before = trim(pending_);
    if (quoted_ || !is_mark(c)) {
      begin_ = before.empty() ? line_number_ : begin_;
      pending_ += c;
    } else if (c == ';') {
      finish_statement(joined(std::exchange(pending_, {})));
    } else if (c == ':' && is_label(before)) {
      labels_.emplace_back(before);
      scopes_.declare_label(labels_.back());
      pending_.clear();
    } else if (c == '{' && (before.empty() || is_function_header(before))) {
      open_scope(joined(std::exchange(pending_, {})));
    } else if (c == '}' && before.empty()) {
      close_scope();
    } else {
      pending_ += c;
    }
  }

  static bool is_mark(char c) { return c == ';' || c == ':' || c == '{' || c == '}'; }

  void open_scope(const std::string& header) {
    if (header.empty() == (scopes_.depth() == 0)) {
      fail("a '{' in the wrong place");
    }
    if (scopes_.depth() == kDeepestScope) {
      fail("scopes are nested too deeply");
    }
    if (!header.empty()) {
      module_.functions.emplace_back().name = name_of(header);
      module_.functions.back().header = header;
      scopes_ = PtxScopes();
      labels_.clear();
    }
    scopes_.open(module_.functions.back());
  }

  void close_scope() {
    if (scopes_.depth() == 0) {
      fail("a '}' without its '{'");
    }
    scopes_.close(module_.functions.back(), labels_);
    if (scopes_.depth() == 0) {
      module_.functions.back().registers = scopes_.names();
      module_.functions.back().register_types = scopes_.types();
      module_.functions.back().end_labels = std::exchange(labels_, {});
      lines_.forget();
    }
  }

  void finish_statement(const std::string& text) {
    if (text.empty()) {
      return;
    }
    if (scopes_.depth() == 0) {
      if (!is_function_header(text)) {
        module_.declarations.push_back(text);
      }
    } else if (text.starts_with(".reg")) {
      scopes_.declare_registers(text);
    } else if (text.starts_with(".local") || text.starts_with(".shared") ||
               text.starts_with(".param")) {
      module_.functions.back().declarations.push_back(text);
    } else if (text.starts_with(kBranchTargets) && !labels_.empty()) {
      module_.functions.back().branch_targets[labels_.back()] =
          split_operands(std::string_view(text).substr(kBranchTargets.size()));
      scopes_.declare_list(labels_.back());
      labels_.pop_back();
    } else if (!text.starts_with('.')) {
      add_statement(text);
    }
  }

  void add_statement(const std::string& text) {
    if (++count_ > kMostStatements) {
      fail(fmt::format("more than {} instructions", kMostStatements));
    }
    PtxStatement statement;
    statement.line = begin_;
    statement.text = text;
    statement.place = lines_.place();
    statement.labels = std::exchange(labels_, {});
    std::string_view rest = text;
    if (rest.starts_with('@')) {
      statement.guard = take_until(rest, ' ').substr(1);
      statement.reads = scopes_.find(statement.guard);
    }
    rest = trim(rest);
    statement.opcode = take_until(rest, ' ');
    add_registers(rest, statement);
    module_.functions.back().statements.push_back(std::move(statement));
  }

  void add_registers(std::string_view text, PtxStatement& statement) {
    statement.operands = split_operands(text);
    const std::vector<std::string>& operands = statement.operands;
    const std::vector<OperandEffect> effects = operand_effects(statement.opcode, operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::vector<std::size_t> found = scopes_.find(operands[i]);
      if (found.empty()) {
        statement.names.push_back(operands[i]);
      }
      for (const std::size_t index : found) {
        if (effects[i].writes) {
          statement.writes.push_back(index);
        }
        if (effects[i].reads) {
          statement.reads.push_back(index);
        }
      }
    }
  }

  std::string_view rest_;
  const std::string& origin_;
  std::int64_t line_number_ = 0;
  std::size_t count_ = 0;
  PtxModule module_;
  PtxLineTable lines_;
  PtxScopes scopes_;
  std::vector<std::string> labels_;  ///< seen since the last instruction
  std::string pending_;              ///< text of the statement that has not ended
  std::int64_t begin_ = 0;           ///< its line
  bool quoted_ = false;
  bool in_comment_ = false;
  bool in_section_ = false;
};

}  // namespace

PtxModule parse_ptx(std::string_view text, const std::string& origin) {
  return Parser(text, origin).parse();
}

}  // namespace fatune

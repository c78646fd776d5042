#include "cli/document.hpp"

#include <sstream>

namespace fatune::testing_cli {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kIndent = "    ";
constexpr std::string_view kNoteBegin = "<!-- ";
constexpr std::string_view kNoteEnd = " -->";

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string note_of(const std::string& line) {
  return line.starts_with(kNoteBegin) && line.ends_with(kNoteEnd)
             ? line.substr(kNoteBegin.size(), line.size() - kNoteBegin.size() - kNoteEnd.size())
             : std::string();
}

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

/// Reads one document, line by line.
class Reader {
 public:
  std::vector<CodeBlock> read(std::string_view markdown) {
    for (const std::string& line : lines_of(markdown)) {
      ++number_;
      take(line);
    }
    end_block();
    return std::move(blocks_);
  }

 private:
  void take(const std::string& line) {
    if (line.starts_with(kFence)) {
      fenced_ ? end_block() : begin_block(number_ + 1);
      fenced_ = !fenced_;
    } else if (fenced_) {
      add(line);
    } else if (line.starts_with(kIndent) && (open_ || was_blank_)) {
      open_ ? void() : begin_block(number_);
      add(line.substr(kIndent.size()));
    } else {
      end_block();
      note_ = is_blank(line) ? note_ : note_of(line);
    }
    was_blank_ = is_blank(line) || !note_of(line).empty();
  }
  void begin_block(int line) {
    block_ = {line, std::move(note_), {}};
    note_.clear();
    open_ = true;
  }
  void add(const std::string& line) { block_.text += line + '\n'; }
  void end_block() {
    if (open_) {
      blocks_.push_back(std::move(block_));
    }
    open_ = false;
  }

  std::vector<CodeBlock> blocks_;
  CodeBlock block_;
  std::string note_;
  int number_ = 0;
  bool fenced_ = false;
  bool open_ = false;
  bool was_blank_ = true;
};

/// Splits a command line as a shell would, as far as documents need it: handles double quotes,
/// comments, and redirections, which end a command.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  bool in_word = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      in_word = true;
    } else if (!quoted && !in_word && (c == '#' || c == '>')) {
      return words;
    } else if (quoted || c != ' ') {
      word += c;
      in_word = true;
    } else if (in_word) {
      words.push_back(std::move(word));
      word.clear();
      in_word = false;
    }
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

bool stands_for_something(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "...") {
      return true;
    }
  }
  return false;
}

std::string without_white_space(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    kept += c == ' ' || c == '\n' || c == '\t' ? std::string() : std::string(1, c);
  }
  return kept;
}

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view markdown) { return Reader().read(markdown); }

std::vector<std::vector<std::string>> fatune_commands(std::string_view text) {
  std::vector<std::vector<std::string>> commands;
  std::string whole;
  for (const std::string& line : lines_of(text)) {
    whole += line;
    if (whole.ends_with('\\')) {
      whole.back() = ' ';
      continue;
    }
    std::vector<std::string> words = words_of(std::exchange(whole, {}));
    const bool runs = !words.empty() && (words[0] == "fatune" || words[0] == "./scripts/fatune");
    if (runs && !stands_for_something(words)) {
      commands.emplace_back(words.begin() + 1, words.end());
    }
  }
  return commands;
}

bool is_shown(std::string_view output, std::string_view shown) {
  const std::string all = without_white_space(output);
  std::size_t from = 0;
  std::string part;
  const auto find_part = [&] {
    const std::string wanted = without_white_space(part);
    const std::size_t at = all.find(wanted, from);
    from = at == std::string::npos ? from : at + wanted.size();
    part.clear();
    return at != std::string::npos;
  };
  for (const std::string& line : lines_of(shown)) {
    if (line != "...") {
      part += line;
    } else if (!find_part()) {
      return false;
    }
  }
  return find_part();
}

}  // namespace fatune::testing_cli

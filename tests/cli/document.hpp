#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune::testing_cli {

/// A code block of a Markdown document: fenced, or indented by four spaces.
struct CodeBlock {
  int line = 0;      ///< the number of its first line, from 1
  std::string note;  ///< the HTML comment before it, such as "shows: fatune list"; or empty
  std::string text;  ///< without the fence and the indentation
};

[[nodiscard]] std::vector<CodeBlock> code_blocks(std::string_view markdown);

/// The arguments of the lines that run fatune ("fatune list", "./scripts/fatune list"), in order,
/// without the program. Lines that end with a backslash continue; comments are left out; quotes are
/// a shell's. Lines whose arguments contain an ellipsis are left out: they stand for something that
/// the reader fills in.
[[nodiscard]] std::vector<std::vector<std::string>> fatune_commands(std::string_view text);

/// Whether `shown` is a part of `output`, ignoring white space. A line "..." stands for any text.
[[nodiscard]] bool is_shown(std::string_view output, std::string_view shown);

}  // namespace fatune::testing_cli

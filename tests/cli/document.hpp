#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune::testing_cli {

/// A block of code of a Markdown document: fenced, or indented by four spaces.
struct CodeBlock {
  int line = 0;      ///< of its first line, from 1
  std::string note;  ///< of an HTML comment on the line before it: "shows: fatune list"; else empty
  std::string text;  ///< without fence and indentation
};

[[nodiscard]] std::vector<CodeBlock> code_blocks(std::string_view markdown);

/// Arguments of the lines that run fatune ("fatune list", "./scripts/fatune list"), in order,
/// without the program. Lines that end with a backslash go on; comments are left out; quotes are a
/// shell's. Left out are lines whose arguments have an ellipsis: those stand for something of the
/// reader's.
[[nodiscard]] std::vector<std::vector<std::string>> fatune_commands(std::string_view text);

/// Whether `shown` is `output` but for white space, and for what a line "..." stands for.
[[nodiscard]] bool is_shown(std::string_view output, std::string_view shown);

}  // namespace fatune::testing_cli

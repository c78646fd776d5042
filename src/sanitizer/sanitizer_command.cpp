#include "sanitizer/sanitizer_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fatune {
namespace {

/// Escapes '%', which begins a placeholder in the tool's file names.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    text += c == '%' ? "%%" : std::string(1, c);
  }
  return text;
}

}  // namespace

std::vector<std::string> sanitizer_words(const SanitizerCommand& command) {
  std::vector<std::string> words{command.program,
                                 "--tool",
                                 std::string(sanitizer_tool_name(command.tool)),
                                 "--log-file",
                                 escaped(command.log_folder) + "/%p.log",
                                 "--show-backtrace",
                                 "no"};
  // initcheck needs all kernels: it takes for unwritten what ignored kernels wrote, our inputs.
  if (command.tool != SanitizerTool::initcheck) {
    words.insert(
        words.end(),
        {"--kernel-name", "kns=" + fmt::format("{}", fmt::join(command.kernel_names, ",kns="))});
  }
  if (command.tool == SanitizerTool::memcheck) {
    words.insert(words.end(), {"--report-api-errors", "no"});
  }
  return words;
}

}  // namespace fatune

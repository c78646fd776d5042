#include "cli/path_option.hpp"

#include "core/error.hpp"

namespace fatune {

std::filesystem::path read_path(const std::string& text, const std::string& option) {
  if (text.empty()) {
    throw Error(ExitCode::usage, "an empty name is no file and no folder", option,
                "name one; is a variable of the shell not set?");
  }
  return text;
}

}  // namespace fatune

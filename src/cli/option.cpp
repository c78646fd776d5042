#include "cli/option.hpp"

#include "core/error.hpp"

namespace fatune {

std::filesystem::path read_path(const std::string& text, const std::string& option) {
  if (text.empty()) {
    throw Error(ExitCode::usage, "an empty name is neither a file nor a folder", option,
                "name one; is a shell variable not set?");
  }
  return text;
}

CLI::Option* add_paths(CLI::App& app, const std::string& name, const char* type,
                       const std::string& doc, std::vector<std::filesystem::path>& paths) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [name, &paths](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              paths.push_back(read_path(text, name));
            }
          },
          doc)
      ->type_name(type)
      ->allow_extra_args(!name.starts_with('-'));
}

}  // namespace fatune

#pragma once

#include <filesystem>
#include <string>

#include "cli/text_option.hpp"

// Options that name a file or a folder.
namespace fatune {

/// Returns the path. Throws Error(usage) for an empty name, which "$UNSET" gives.
[[nodiscard]] std::filesystem::path read_path(const std::string& text, const std::string& option);

/// Adds a list of paths: a positional argument or a repeatable option.
CLI::Option* add_paths(CLI::App& app, const std::string& name, const char* type,
                       const std::string& doc, std::vector<std::filesystem::path>& paths);

/// Adds an option that takes a path. `path`: a path or an optional path.
template <typename Path>
CLI::Option* add_path_option(CLI::App& app, const std::string& name, const std::string& type,
                             const std::string& doc, Path& path) {
  return add_text_option(app, name, type, doc,
                         [name, &path](const std::string& text) { path = read_path(text, name); });
}

}  // namespace fatune

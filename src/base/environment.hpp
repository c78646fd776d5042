#pragma once

#include <filesystem>
#include <optional>
#include <string>

// Call these only while nothing writes the environment; fatune never does.

struct stat;

namespace fatune {

/// The value of an environment variable; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);

/// The folder that `variable` names, else `below_home` in the user's home; nothing if neither is
/// known. A relative path in `variable` is ignored. Source: XDG Base Directory Specification 0.8.
[[nodiscard]] std::optional<std::filesystem::path> xdg_folder(const char* variable,
                                                              const char* below_home);

/// Quotes `text` as one word that a POSIX shell reads back.
[[nodiscard]] std::string shell_word(const std::string& text);

/// Returns why somebody other than the user and root may have written the file or folder. Empty:
/// nobody may. A group may write if it is the user's own.
[[nodiscard]] std::string why_foreign(const struct stat& status);

}  // namespace fatune

#include "base/environment.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>

#include <fmt/format.h>

namespace fatune {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::filesystem::path> xdg_folder(const char* variable, const char* below_home) {
  if (const auto chosen = environment_variable(variable); chosen && chosen->front() == '/') {
    return *chosen;
  }
  const auto home = environment_variable("HOME");
  return home ? std::optional(std::filesystem::path(*home) / below_home) : std::nullopt;
}

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) {
    return text;
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return word + "'";
}

std::string why_foreign(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return fmt::format("belongs to another user (uid {})", status.st_uid);
  }
  const mode_t by_others = status.st_gid == ::getegid() ? S_IWOTH : S_IWOTH | S_IWGRP;
  const bool is_link = S_ISLNK(status.st_mode);  // whose mode has no meaning
  return !is_link && (status.st_mode & by_others) != 0
             ? fmt::format("may be changed by other users (mode {:03o})", status.st_mode & 0777U)
             : std::string();
}

}  // namespace fatune

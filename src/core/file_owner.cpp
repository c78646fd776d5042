#include "core/file_owner.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace fatune {

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

#include "base/scratch_folder.hpp"

#include <stdlib.h>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace fatune {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  const std::string place = environment_variable("TMPDIR").value_or("/tmp");
  std::string pattern = place + "/fatune-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::io,
                fmt::format("cannot make a temporary folder: {}", std::strerror(errno)), place,
                "make it, or set TMPDIR to a folder that can be written");
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fatune

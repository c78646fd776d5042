#include "app/scratch_folder.hpp"

#include <stdlib.h>

#include <string>
#include <system_error>

#include "core/error.hpp"

namespace fatune {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "fatune-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::io, "cannot make a temporary folder", pattern);
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fatune

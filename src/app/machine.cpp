#include "app/machine.hpp"

#include <stdlib.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/error.hpp"

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

CounterAccess counter_access(std::string_view module_parameters, bool is_root) {
  if (module_parameters.empty()) {
    return CounterAccess::unknown;
  }
  const bool admins = module_parameters.find("RmProfilingAdminOnly: 1") != std::string_view::npos;
  return admins && !is_root ? CounterAccess::admins_only : CounterAccess::everybody;
}

CounterAccess counter_access() {
  std::ifstream file("/proc/driver/nvidia/params");
  const std::string parameters{std::istreambuf_iterator<char>(file), {}};
  return counter_access(parameters, ::geteuid() == 0);
}

}  // namespace fatune

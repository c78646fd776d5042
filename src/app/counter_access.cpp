#include "app/counter_access.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

namespace fatune {

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

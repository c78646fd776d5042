#include "gpu/driver_release.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/environment.hpp"
#include "gpu/nvml.hpp"

namespace fatune::gpu {
namespace {

/// "580.159.04"
bool is_release(const std::string& word) {
  return word.find('.') != std::string::npos && word.front() != '.' &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

std::string release_of_kernel_module() {
  std::ifstream file("/proc/driver/nvidia/version");
  return read_driver_release(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string find_release() {
  const std::string release =
      environment_variable("FATUNE_LIBNVML") ? std::string() : release_of_kernel_module();
  return release.empty() ? nvml_driver_release() : release;
}

}  // namespace

std::string read_driver_release(std::string_view text) {
  std::istringstream words{std::string(text.substr(0, text.find('\n')))};
  const auto found = std::find_if(std::istream_iterator<std::string>(words), {}, is_release);
  return found == std::istream_iterator<std::string>() ? std::string() : *found;
}

const std::string& driver_release() {
  static const std::string release = find_release();
  return release;
}

}  // namespace fatune::gpu

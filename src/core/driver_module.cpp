#include "core/driver_module.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fatune {
namespace {

/// True for a word like "580.159.04".
bool is_release(const std::string& word) {
  return word.find('.') != std::string::npos && word.front() != '.' &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

std::string module_driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  return read_driver_release(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string read_driver_release(std::string_view text) {
  std::istringstream words{std::string(text.substr(0, text.find('\n')))};
  const auto found = std::find_if(std::istream_iterator<std::string>(words), {}, is_release);
  return found == std::istream_iterator<std::string>() ? std::string() : *found;
}

}  // namespace fatune

#include "gpu/driver_release.hpp"

#include "core/cuda_installation.hpp"
#include "core/environment.hpp"
#include "gpu/nvml.hpp"

namespace fatune::gpu {
namespace {

std::string find_release() {
  const std::string release =
      environment_variable("FATUNE_LIBNVML") ? std::string() : module_driver_release();
  return release.empty() ? nvml_driver_release() : release;
}

}  // namespace

const std::string& driver_release() {
  static const std::string release = find_release();
  return release;
}

}  // namespace fatune::gpu

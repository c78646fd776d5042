#include "unit/engine/toy_kernels.hpp"

#include "plan/config_text.hpp"

namespace fatune {

KernelSet toy_kernels() {
  KernelOptions options;
  options.kernel_dirs = {FATUNE_SOURCE_DIR "/tests/families/toy_attention"};
  return choose_kernels(options);
}

Config toy_config(const KernelSet& kernels, const char* text) {
  return parse_config(kernels.family(), text);
}

}  // namespace fatune

#pragma once

#include "app/choice/kernel_choice.hpp"

namespace fatune {

/// tests/families/toy_attention.
[[nodiscard]] KernelChoice toy_kernels();
[[nodiscard]] Config toy_config(const KernelChoice& kernels, const char* text);

}  // namespace fatune

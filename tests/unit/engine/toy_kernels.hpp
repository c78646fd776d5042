#pragma once

#include "engine/choice/kernel_choice.hpp"

namespace fatune {

/// The kernels of tests/families/toy_attention.
[[nodiscard]] KernelSet toy_kernels();
[[nodiscard]] Config toy_config(const KernelSet& kernels, const char* text);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"

namespace fatune {

/// The bytes of each parameter of a kernel, in order, from its cubin (section .nv.info.<kernel>).
/// Returns nothing if the cubin does not say. Never throws, even if the bytes are not a cubin.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parameter_sizes(
    std::span<const char> cubin, const std::string& lowered_name);

/// Describes how a kernel's parameters differ from the arguments that it is called with, and names
/// the place in family.json. Returns nothing if number and sizes agree, or if the machine code does
/// not say.
[[nodiscard]] std::optional<std::string> argument_mismatch(const Artifact& artifact,
                                                           const KernelArguments& arguments);

}  // namespace fatune

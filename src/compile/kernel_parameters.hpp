#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"

namespace fatune {

/// Bytes of each parameter of a kernel, in order, as its cubin says (section .nv.info.<kernel>);
/// nothing when it does not say. Never throws for what is no cubin.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parameter_sizes(
    std::span<const char> cubin, const std::string& lowered_name);

/// How what a kernel takes differs from what it is called with, naming the place in family.json;
/// nothing when number and sizes agree, or the machine code does not say.
[[nodiscard]] std::optional<std::string> argument_mismatch(const Artifact& artifact,
                                                           const KernelArguments& arguments);

}  // namespace fatune

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/arch.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// Files of the kernel that multiplies as fast as the device can: as measurement_source_names().
[[nodiscard]] std::vector<std::string> matmul_source_names();

/// The request to compile for measure_matmul_rate().
[[nodiscard]] CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources,
                                            DType dtype, Arch arch);

}  // namespace fatune

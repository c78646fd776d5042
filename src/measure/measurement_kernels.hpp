#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/arch.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// Files of the kernels that make inputs, references, comparisons and the gate: paths relative to
/// the folder kernels/, the translation unit first, then its headers. The caller reads them and
/// makes the SourceBundle; each file's name in the bundle is its path in this list.
[[nodiscard]] std::vector<std::string> measurement_source_names();

/// The request to compile for Measurer::begin_problem(). It depends only on the problem's dtype and
/// head dimensions, so that an artifact serves all problems that share them. Throws Error(usage) if
/// a head dimension is no multiple of 8 from 8 to 256.
[[nodiscard]] CompileRequest measurement_request(std::shared_ptr<const SourceBundle> sources,
                                                 const Problem& problem, Arch arch);

/// Files of the kernel that multiplies as fast as the device can, listed like
/// measurement_source_names().
[[nodiscard]] std::vector<std::string> matmul_source_names();

/// The request to compile for measure_matmul_rate().
[[nodiscard]] CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources,
                                            DType dtype, Arch arch);

}  // namespace fatune

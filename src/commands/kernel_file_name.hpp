#pragma once

#include <string>

#include "core/kernel_code.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Returns the name of a kernel's file without its suffix: the family, the configuration's short
/// form, the compiled-in properties of the problem and the GPU (the family's defines that are not
/// 0), and the architecture, as
/// "flash_sm80_FP16_128_64_64_4_async_load_2_2_2_tiles.causal.row_stride-2048.sm_80". Requests of
/// one family that differ in any of these have different names.
[[nodiscard]] std::string kernel_file_stem(const Family& family, const CompileRequest& request);

}  // namespace fatune

#pragma once

#include <cuda.h>

#include <string>

/// The settings of the environment variables (README.md beside this file).
namespace fake_cuda {

[[nodiscard]] std::string text_setting(const char* variable, const char* default_value);
[[nodiscard]] long long integer_setting(const char* variable, long long default_value);
/// Whether launches run on the emulator, according to FATUNE_FAKE_KERNELS.
[[nodiscard]] bool runs_kernels();
/// Compute capability as 10 * major + minor.
[[nodiscard]] int compute_capability();
/// Counts the calls of the function. Returns the result of this call according to FATUNE_FAKE_FAIL.
[[nodiscard]] CUresult scripted_failure(const std::string& function);
/// The effect on the context of the launch with this number (from 1), by FATUNE_FAKE_KERNEL_ERROR.
[[nodiscard]] CUresult scripted_kernel_error(long long launch, const std::string& kernel);

}  // namespace fake_cuda

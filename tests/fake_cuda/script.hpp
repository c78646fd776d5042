#pragma once

#include <cuda.h>

#include <string>

/// What the environment variables say (README.md beside this file).
namespace fake_cuda {

[[nodiscard]] std::string text_setting(const char* variable, const char* default_value);
[[nodiscard]] long long integer_setting(const char* variable, long long default_value);
/// FATUNE_FAKE_KERNELS: whether launches are carried out, on the emulator.
[[nodiscard]] bool runs_kernels();
/// Compute capability as 10 * major + minor.
[[nodiscard]] int compute_capability();
/// What this call of the function is to return, by FATUNE_FAKE_FAIL; counts calls.
[[nodiscard]] CUresult scripted_failure(const std::string& function);
/// What the launch of that number (from 1) does to the context, by FATUNE_FAKE_KERNEL_ERROR.
[[nodiscard]] CUresult scripted_kernel_error(long long launch, const std::string& kernel);

}  // namespace fake_cuda

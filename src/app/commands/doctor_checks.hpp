#pragma once

#include <vector>

#include "app/options.hpp"
#include "emit/doctor_report.hpp"

// The checks of `doctor`, one function per subject. Broken: no command can do its job; limited:
// measuring, or something smaller, is not available.
namespace fatune {

[[nodiscard]] std::vector<Check> check_driver(const DoctorOptions& options);
[[nodiscard]] std::vector<Check> check_gpus(const DoctorOptions& options);
/// Compiles a small kernel.
[[nodiscard]] std::vector<Check> check_nvrtc(const DoctorOptions& options);
/// Loads every built-in family and space.
[[nodiscard]] std::vector<Check> check_kernels(const DoctorOptions& options);
[[nodiscard]] std::vector<Check> check_cache(const DoctorOptions& options);
/// The database of measurements: whether it can be opened.
[[nodiscard]] std::vector<Check> check_store(const DoctorOptions& options);
/// Clocks, power and temperature by NVML, of each usable GPU.
[[nodiscard]] std::vector<Check> check_readings(const DoctorOptions& options);
/// Hardware performance counters: whether this user may read them.
[[nodiscard]] std::vector<Check> check_counters(const DoctorOptions& options);

}  // namespace fatune

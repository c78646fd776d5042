#include <algorithm>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/commands/doctor_checks.hpp"
#include "app/console/console.hpp"

namespace fatune {
namespace {

using CheckFunction = std::vector<Check> (*)(const DoctorOptions&);

/// A check that fails in an unforeseen way is a finding too, and hides no other one.
std::vector<Check> guarded(CheckFunction check, const DoctorOptions& options) {
  try {
    return check(options);
  } catch (const std::exception& error) {
    return {{"check", Health::broken, error.what(), {}}};
  }
}

std::vector<Check> all_checks(const DoctorOptions& options) {
  std::vector<Check> checks;
  for (const CheckFunction check : {check_driver, check_gpus, check_nvrtc, check_kernels,
                                    check_cache, check_store, check_readings, check_counters}) {
    const std::vector<Check> found = guarded(check, options);
    checks.insert(checks.end(), found.begin(), found.end());
  }
  return checks;
}

}  // namespace

ExitCode doctor(const DoctorOptions& options) {
  configure_logging(options.output.verbosity);
  const std::vector<Check> checks = all_checks(options);
  print_document(doctor_document(checks), options.output);
  const bool broken = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.health == Health::broken;
  });
  return broken ? ExitCode::internal : ExitCode::ok;
}

}  // namespace fatune

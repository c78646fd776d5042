#include "app/commands/doctor_command.hpp"

#include <algorithm>

#include "app/commands/doctor_checks.hpp"
#include "app/console/console.hpp"

namespace fatune {

ExitCode doctor(const DoctorOptions& options) {
  const std::vector<Check> checks = run_checks(options.compile);
  print_document(doctor_document(checks), options.output);
  const bool broken = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.health == Health::broken;
  });
  return broken ? ExitCode::internal : ExitCode::ok;
}

}  // namespace fatune

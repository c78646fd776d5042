#include "app/commands/doctor_command.hpp"

#include <algorithm>

#include "app/commands/doctor_checks.hpp"
#include "app/console/console.hpp"
#include "core/ranges.hpp"

namespace fatune {

ExitCode doctor(const DoctorOptions& options) {
  const std::vector<Check> checks = run_checks(options.compile);
  print_document(doctor_document(checks), options.output);
  const bool broken = is_among(Health::broken, checks, &Check::health);
  return broken ? ExitCode::internal : ExitCode::ok;
}

}  // namespace fatune

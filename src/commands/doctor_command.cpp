#include "commands/doctor_command.hpp"

#include <algorithm>

#include "app/console/console.hpp"
#include "commands/doctor_checks.hpp"
#include "core/is_among.hpp"

namespace fatune {

ExitCode doctor(const DoctorOptions& options) {
  const std::vector<Check> checks = run_checks(options.compile);
  print_document(doctor_document(checks), options.output);
  const bool broken = is_among(Health::broken, checks, &Check::health);
  return broken ? ExitCode::internal : ExitCode::ok;
}

}  // namespace fatune

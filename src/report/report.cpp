#include "report/report.hpp"

namespace fatune {

double busy_percent(const RunReport& report) {
  const double available_s = report.wall_s * report.gpus;
  return available_s > 0.0 ? 100.0 * report.busy_s / available_s : 0.0;
}

}  // namespace fatune

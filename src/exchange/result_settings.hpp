#pragma once

#include <string>

#include "exchange/run_parts.hpp"
#include "exchange/tuning_results.hpp"

namespace fatune {

/// Converts a part of a run to other tuners' form, with its records. The kernel has its family's
/// name. The problem size is queries, heads and batch.
[[nodiscard]] TuningResults tuning_results(const RunPart& part);

/// Error(bad_file) unless the file's settings are those of its records: otherwise, one of the two
/// was changed. `origin`: of the file.
void check_settings(const TuningResults& file, const RunPart& records, const std::string& origin);

}  // namespace fatune

#pragma once

#include <string>

#include "exchange/run_parts.hpp"
#include "exchange/tuning_results.hpp"

namespace fatune {

/// A part of a run as other tuners' files have it, with its records. The kernel is called by its
/// family's name; the size of the problem is its queries, heads and batch.
[[nodiscard]] TuningResults tuning_results(const RunPart& part);

/// Error(bad_file) unless the file's settings are those of its records: somebody has changed one of
/// the two. `origin`: of the file.
void check_settings(const TuningResults& file, const RunPart& records, const std::string& origin);

}  // namespace fatune

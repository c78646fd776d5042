#pragma once

#include "data/json_file.hpp"
#include "exchange/tuning_results.hpp"

// T4, the common format of auto-tuners' results: version 1.0.0 of
// https://github.com/odgaard/TuningSchema (results-schema.json), as Kernel Tuner and KTT write it.
namespace fatune {

/// A results file that is also a metadata file. Times are in milliseconds.
[[nodiscard]] Json t4_json(const TuningResults& results);

/// `file` must have been checked against configs/schema/t4_results.schema.json. Times have the unit
/// of their measurement, else that of the file, else milliseconds. Error(bad_file) for another
/// unit.
[[nodiscard]] TuningResults read_t4(const JsonNode& file);

}  // namespace fatune

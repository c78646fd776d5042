#pragma once

namespace fatune {

/// How a command prints its result (--format table|json|csv|md).
enum class OutputFormat { table, json, csv, markdown };

}  // namespace fatune

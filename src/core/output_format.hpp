#pragma once

namespace fatune {

/// How a command prints its result (--format table|json|jsonl|csv|md).
enum class OutputFormat { table, json, json_lines, csv, markdown };

}  // namespace fatune

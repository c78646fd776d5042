#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include "base/enum_names.hpp"
#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "model/output_format.hpp"
#include "print/document/table.hpp"

// The results of a tunable kernel as in files of other auto-tuners, whatever the format.
namespace fatune {

/// How a setting ended. The enumerators are the words of T4's "invalidity".
enum class Validity { correct, compile, runtime, timeout, correctness, constraints };
template <>
inline constexpr EnumNames<6> kEnumNames<Validity>{
    "invalidity", {"correct", "compile", "runtime", "timeout", "correctness", "constraints"}};

/// One choice of values for the kernel's parameters.
struct TunedSetting {
  Json configuration = Json::object();  ///< values by parameter
  Validity validity = Validity::correct;
  std::optional<double> time_ms{};  ///< what it is ranked by; absent: it has no time
  std::vector<double> runtimes_ms{};
  double compile_ms = 0.0;
  std::string timestamp{};
};

/// The contents of a file: one kernel, on one problem and device.
struct TuningResults {
  std::string kernel_name{};                ///< empty: the file does not say
  std::string device_name{};                ///< likewise
  Json device = nullptr;                    ///< all that is known about it
  std::vector<std::string> requirements{};  ///< "nvrtc==13.0": what it was measured with
  std::vector<std::int64_t> problem_size{};
  std::vector<TunedSetting> settings{};
  nlohmann::json records{};  ///< what only fatune knows (run_parts.hpp); null: not its file
};

/// The text of a file in the format. Precondition: the format can be imported.
[[nodiscard]] std::string tuning_file_text(ExportFormat format, const TuningResults& results);

/// Reads a file in the format. Without one, the file's members tell the format. Error(bad_file)
/// names `origin`, the place and what would be right if the text has no such format or does not
/// follow its schema.
[[nodiscard]] TuningResults read_tuning_file(std::string_view text, const std::string& origin,
                                             std::optional<ExportFormat> format,
                                             const FileTree& tree);

// T4, the common format of auto-tuners' results: version 1.0.0 of
// https://github.com/odgaard/TuningSchema (results-schema.json), as Kernel Tuner and KTT write it.

/// A results file that is also a metadata file. Times are in milliseconds.
[[nodiscard]] Json t4_json(const TuningResults& results);

/// `file` must have been checked against configs/schema/t4_results.schema.json. Times have the unit
/// of their measurement, else that of the file, else milliseconds. Error(bad_file) for another
/// unit.
[[nodiscard]] TuningResults read_t4(const JsonNode& file);

// Kernel Tuner's cache file, from which its simulation mode replays a search
// (https://kerneltuner.github.io/kernel_tuner). Times are in milliseconds.

/// The members are in Kernel Tuner's order: it appends settings after the last member.
[[nodiscard]] Json kernel_tuner_cache_json(const TuningResults& results);

/// Adds the closing braces that Kernel Tuner leaves out while it is tuning, or when it was stopped,
/// and removes the comma before them. Returns any other text unchanged.
[[nodiscard]] std::string closed_cache_text(std::string_view text);

/// `file` must have been checked against configs/schema/kernel_tuner_cache.schema.json.
/// Error(bad_file) if a setting lacks a parameter.
[[nodiscard]] TuningResults read_kernel_tuner_cache(const JsonNode& file);

}  // namespace fatune

#include "exchange/tuning_file.hpp"

#include "core/error.hpp"
#include "data/json_file.hpp"

namespace fatune {
namespace {

ExportFormat format_of(const nlohmann::json& file, const std::string& origin) {
  if (file.is_object() && file.contains("results")) {
    return ExportFormat::t4;
  }
  if (file.is_object() && file.contains("cache")) {
    return ExportFormat::kernel_tuner_cache;
  }
  throw Error(ExitCode::bad_file, "it is neither T4 results nor a cache of Kernel Tuner", origin,
              "the former have a member 'results', the latter 'cache'");
}

}  // namespace

std::string tuning_file_text(ExportFormat format, const TuningResults& results) {
  return json_text(format == ExportFormat::t4 ? t4_json(results)
                                              : kernel_tuner_cache_json(results));
}

TuningResults read_tuning_file(std::string_view text, const std::string& origin,
                               std::optional<ExportFormat> format, const FileTree& tree) {
  const nlohmann::json file = parse_json(closed_cache_text(text), origin);
  const bool is_t4 = (format ? *format : format_of(file, origin)) == ExportFormat::t4;
  check_schema(file, tree, is_t4 ? "t4_results" : "kernel_tuner_cache", origin);
  const JsonNode root(file, origin);
  return is_t4 ? read_t4(root) : read_kernel_tuner_cache(root);
}

}  // namespace fatune

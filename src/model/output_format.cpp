#include "model/output_format.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

ExportFormat parse(std::span<const ExportFormatInfo> formats, std::string_view text,
                   const std::string& what, const char* option) {
  const auto found = std::ranges::find(formats, text, &ExportFormatInfo::name);
  if (found == formats.end()) {
    throw Error(ExitCode::usage, "nothing can be " + what + " '" + std::string(text) + "'", option,
                "formats are " + joined(formats, ", ", &ExportFormatInfo::name));
  }
  return found->format;
}

std::vector<ExportFormatInfo> imported_formats() {
  std::vector<ExportFormatInfo> imported;
  std::ranges::copy_if(kExportFormats, std::back_inserter(imported),
                       &ExportFormatInfo::is_imported);
  return imported;
}

const ExportFormatInfo& info(ExportFormat format) {
  return *std::ranges::find(kExportFormats, format, &ExportFormatInfo::format);
}

}  // namespace

std::string_view export_format_name(ExportFormat format) { return info(format).name; }

bool is_library(ExportFormat format) { return info(format).is_library; }

ExportFormat parse_export_format(std::string_view text) {
  return parse(kExportFormats, text, "exported as", "--to");
}

ExportFormat parse_import_format(std::string_view text) {
  return parse(imported_formats(), text, "imported as", "--from");
}

std::string export_format_words() { return joined(kExportFormats, "|", &ExportFormatInfo::name); }

std::string import_format_words() {
  return joined(imported_formats(), "|", &ExportFormatInfo::name);
}

std::string export_formats_text() {
  return joined(kExportFormats, "; ", [](const ExportFormatInfo& one) {
    return std::string(one.name) + ": " + std::string(one.doc);
  });
}

}  // namespace fatune

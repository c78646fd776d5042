#include "commands/export/export_report.hpp"

namespace fatune {

Fields<ExportedFile> exported_file_fields() {
  using F = ExportedFile;
  return {
      {"file", "file", &F::file},
      {"device", "device", &F::device},
      {"problem", "problem", &F::problem},
      {"kernel", "kernel", &F::kernel},
      {"settings", "settings", &F::settings},
      {"timed", "timed", &F::timed},
  };
}

Document export_files_document(const std::vector<ExportedFile>& files) {
  return rows_document("export_files", "files", exported_file_fields(), files);
}

}  // namespace fatune

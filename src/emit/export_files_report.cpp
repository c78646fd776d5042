#include "emit/export_files_report.hpp"

namespace fatune {

const Fields<ExportedFile>& exported_file_fields() {
  using F = ExportedFile;
  static const Fields<F> fields{
      {"file", "file", &F::file},
      {"device", "device", Look{.leaves = 1, .once = true}, &F::device},
      {"problem", "problem", Look{.once = true}, &F::problem},
      {"kernel", "kernel", Look{.once = true}, &F::kernel},
      {"settings", "settings", &F::settings},
      {"timed", "timed", &F::timed},
  };
  return fields;
}

Document export_files_document(const std::vector<ExportedFile>& files) {
  return rows_document("export_files", "files", exported_file_fields(), files);
}

}  // namespace fatune

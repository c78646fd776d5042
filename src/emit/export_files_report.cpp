#include "emit/export_files_report.hpp"

namespace fatune {

const std::vector<Field<ExportedFile>>& exported_file_fields() {
  using F = ExportedFile;
  static const std::vector<Field<F>> fields{
      {"file", "file", "file that was written", 0, kEverywhere, member<&F::file>},
      {"device", "device", "name of the GPU that measured the results", 0, kEverywhere,
       member<&F::device>, ColumnFit{.leaves = 1, .once = true}},
      {"problem", "problem", "problem that the results were measured on", 0, kEverywhere,
       member<&F::problem>, ColumnFit{.once = true}},
      {"kernel", "kernel", "kernel family of the results", 0, kEverywhere, member<&F::kernel>,
       ColumnFit{.once = true}},
      {"settings", "settings", "number of configurations in the file", 0, kEverywhere,
       member<&F::settings>},
      {"timed", "timed", "number of the configurations in the file that have a time", 0,
       kEverywhere, member<&F::timed>},
  };
  return fields;
}

Document export_files_document(const std::vector<ExportedFile>& files) {
  return rows_document("export_files", "files", exported_file_fields(), files);
}

}  // namespace fatune

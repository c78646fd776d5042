#include "emit/import_report.hpp"

namespace fatune {

const std::vector<Field<ImportedRun>>& imported_run_fields() {
  using R = ImportedRun;
  static const std::vector<Field<R>> fields{
      {"run", "run", "number of the imported run, as 'fatune show' takes it", 0, kEverywhere,
       member<&R::run>},
      {"started_at", "started", "when the run was measured, as the file says", 0, kEverywhere,
       member<&R::started_at>, ColumnFit{.leaves = 3}},
      {"device", "device", "name of the GPU that measured the run", 0, kEverywhere,
       member<&R::device>, ColumnFit{.leaves = 1, .once = true}},
      {"family", "family", "kernel families of the run, joined by +", 0, kEverywhere,
       member<&R::family>, ColumnFit{.leaves = 2, .once = true}},
      {"problems", "problems", "number of problems of the run", 0, kEverywhere,
       member<&R::problems>},
      {"ranked", "ranked", "number of configurations with a time, over all problems", 0,
       kEverywhere, member<&R::ranked>},
      {"failed", "failed",
       "number of configurations without a time, except those that a rule dropped", 0, kEverywhere,
       member<&R::failed>},
      {"complete", "complete", "false: the run was stopped, or a part of it was not imported", 0,
       kEverywhere, member<&R::complete>},
  };
  return fields;
}

Document import_document(const std::vector<ImportedRun>& runs) {
  return rows_document("import", "runs", imported_run_fields(), runs);
}

}  // namespace fatune

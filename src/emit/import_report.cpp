#include "emit/import_report.hpp"

namespace fatune {

const std::vector<Field<ImportedRun>>& imported_run_fields() {
  using R = ImportedRun;
  static const std::vector<Field<R>> fields{
      {"run", "run", "what 'fatune show' takes", 0, kEverywhere, member<&R::run>},
      {"started_at", "started", "when it was measured, as the file says", 0, kEverywhere,
       member<&R::started_at>, ColumnFit{.leaves = 3}},
      {"device", "device", "the GPU that measured it", 0, kEverywhere, member<&R::device>,
       ColumnFit{.leaves = 1, .once = true}},
      {"family", "family", "kernel families, joined by +", 0, kEverywhere, member<&R::family>,
       ColumnFit{.leaves = 2, .once = true}},
      {"problems", "problems", "problems that it has", 0, kEverywhere, member<&R::problems>},
      {"ranked", "ranked", "configurations with a time, over all problems", 0, kEverywhere,
       member<&R::ranked>},
      {"failed", "failed", "configurations without one that no rule dropped", 0, kEverywhere,
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

#include "emit/import_report.hpp"

namespace fatune {

const Fields<ImportedRun>& imported_run_fields() {
  using R = ImportedRun;
  static const Fields<R> fields{
      {"run", "run", &R::run},
      {"started_at", "started", Look{.leaves = 3}, &R::started_at},
      {"device", "device", Look{.leaves = 1, .once = true}, &R::device},
      {"family", "family", Look{.leaves = 2, .once = true}, &R::family},
      {"problems", "problems", &R::problems},
      {"ranked", "ranked", &R::ranked},
      {"failed", "failed", &R::failed},
      {"complete", "complete", &R::complete},
  };
  return fields;
}

Document import_document(const std::vector<ImportedRun>& runs) {
  return rows_document("import", "runs", imported_run_fields(), runs);
}

}  // namespace fatune

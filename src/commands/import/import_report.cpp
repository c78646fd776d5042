#include "commands/import/import_report.hpp"

namespace fatune {

Fields<ImportedRun> imported_run_fields() {
  using R = ImportedRun;
  return {
      {"run", "run", &R::run},
      {"started_at", "started", &R::started_at},
      {"device", "device", &R::device},
      {"family", "family", &R::family},
      {"problems", "problems", &R::problems},
      {"ranked", "ranked", &R::ranked},
      {"failed", "failed", &R::failed},
      {"complete", "complete", &R::complete},
  };
}

Document import_document(const std::vector<ImportedRun>& runs) {
  return rows_document("import", "runs", imported_run_fields(), runs);
}

}  // namespace fatune

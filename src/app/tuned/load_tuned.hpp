#pragma once

#include "app/option_groups.hpp"
#include "plan/family_set.hpp"
#include "tuned/export_report.hpp"

namespace fatune {

/// The finished table of what the options name: files, then stored runs; without any, of all tuned
/// problems that fatune ships. Error(bad_file) as load_json_from_disk(), and when nothing of it can
/// be used; Error(usage) when there is no such run.
[[nodiscard]] TunedTable load_tuned(const TunedOptions& options, const FamilySet& families);

/// What is known without being named: the tuned problems that fatune ships and, unless the store is
/// off, those of its latest complete runs. It may be empty. Error(bad_file) and Error(io) as
/// stored_runs().
[[nodiscard]] TunedTable load_known(const StoreOptions& store, const FamilySet& families);

/// The table with its leave-one-out regrets, by the families' own rules.
[[nodiscard]] ExportReport judge_tuned(TunedTable table, const FamilySet& families);

}  // namespace fatune

#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "choose/cover.hpp"
#include "choose/tuned_choice.hpp"
#include "choose/tuned_table.hpp"
#include "model/kernel_code.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Folder of the winners that fatune ships: best_configs.json of each GPU, by file_name_part().
inline constexpr const char* kShippedWinners = "configs/tuned/";
/// All folders of what fatune ships, from which choices are made. scripts/tune_winners measures
/// what is in the others: further problems of many queries, and those of few. What is compared with
/// peers, drawn and verified without being named is in the first alone.
inline constexpr std::array kShippedFolders{kShippedWinners, "configs/tuned_prefill/",
                                            "configs/tuned_decode/"};

/// The available kernel families and the hashes of their sources.
struct KernelsAtHand {
  const FamilySet& families;
  const SourceHashes& source_hashes;  ///< of each family
};

/// Adds the problems, GPU and origin of a run. Left out, and listed as skipped, are estimates,
/// times measured with other sources than those at hand, configurations that no family can read or
/// build, and problems of which nothing remains. Configurations that rules had dropped but that
/// were measured count like others. The times of a cover race are scaled so that its winner's
/// equals that of the row. Call finish_table() after the last run. `name`: of the origin.
void add_tuned(const RunReport& run, const std::string& name, const KernelsAtHand& kernels,
               TunedTable& table);

/// A table, and what is known about it.
struct ExportReport {
  TunedTable table;
  std::vector<LeftOut> left_out;  ///< one for each row, in order
  SourceHashes source_hashes;
  std::string fatune_version;
  std::optional<Cover> cover{};  ///< the table has only its configurations; absent: it has all
};

}  // namespace fatune

#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/source_hashes.hpp"
#include "data/json_file.hpp"
#include "plan/family_set.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// The formats that have tuned problems, by the names of their schemas.
inline constexpr std::array<std::string_view, 3> kTunedFormats{"best_configs", "results", "runs"};

/// Folder of the winners that fatune ships: best_configs.json of each GPU, by file_name_part().
inline constexpr const char* kShippedWinners = "configs/tuned/";

/// The available kernel families and the hashes of their sources.
struct KernelsAtHand {
  const FamilySet& families;
  const SourceHashes& source_hashes;  ///< of each family
};

/// Adds the problems, GPUs and origin of a document in one of these formats. Left out, and listed
/// as skipped, are estimates, times measured with other sources than those at hand, configurations
/// that no family can read or build, and problems of which nothing remains. Configurations that
/// rules had dropped but that were measured count like others. The times of a cover race are scaled
/// so that its winner's equals that of the row. Older documents do not say which sources they are
/// of. Call finish_table() after the last document. `name`: of the origin. Error(bad_file) if the
/// document does not follow its schema.
void add_tuned(const JsonNode& document, const std::string& name, const KernelsAtHand& kernels,
               TunedTable& table);

}  // namespace fatune

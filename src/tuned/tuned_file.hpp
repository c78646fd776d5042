#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/source_hashes.hpp"
#include "data/json_file.hpp"
#include "plan/family_set.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// Names of the formats that have tuned problems, as their schemas are called.
inline constexpr std::array<std::string_view, 3> kTunedFormats{"best_configs", "results", "runs"};

/// The kernels that configurations are for.
struct KernelsAtHand {
  const FamilySet& families;
  const SourceHashes& source_hashes;  ///< of each family
};

/// Adds what a document of one of these formats has measured: its problems, GPUs and origin. Left
/// out, and listed as skipped, is what was only estimated, what was measured with other sources
/// than those at hand, what none of the families can read or build, and a problem of which nothing
/// remains. Configurations that rules had dropped and that were measured all the same count as
/// others do; the times of a race for a cover are multiplied by what makes its winner's that of the
/// row. Older documents do not say which sources they are of. Call finish_table() behind the last.
/// `name`: of the origin. Error(bad_file) when the document is not as its schema says.
void add_tuned(const JsonNode& document, const std::string& name, const KernelsAtHand& kernels,
               TunedTable& table);

}  // namespace fatune

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/run/best_file.hpp"

namespace fatune {

/// The rivals of a run's winners: winners of a file, configurations built from other sources, or
/// the former built from the latter.
struct Rivals {
  std::string name;              ///< as the user named them
  FamilySet families;            ///< the run's own, then those with other sources
  std::optional<BestFile> best;  ///< absent: the fastest with the other sources is the rival
  std::string version;           ///< Family::version of the other sources; empty: there are none
  double tolerance_percent = 0.0;

  /// The run's configuration with the other sources; nothing where these do not know it.
  [[nodiscard]] std::optional<Config> with_other_sources(const Config& config) const;
};

/// Loads them. Error(usage) for a tolerance without anything to race against, for a source that is
/// neither a folder nor a revision of the repository that the kernels are in, and when it has none
/// of the run's families; Error(bad_file) as read_best_file() and load_family().
[[nodiscard]] std::optional<Rivals> choose_rivals(const AgainstOptions& options,
                                                  const KernelSet& kernels,
                                                  const KernelOptions& kernel_options);

}  // namespace fatune

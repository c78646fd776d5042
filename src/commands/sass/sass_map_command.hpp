#pragma once

#include <cstdint>
#include <optional>

#include "commands/sass/code_options.hpp"
#include "core/exit_code.hpp"
#include "core/map_target.hpp"

namespace fatune {

struct SassMapOptions : CodeOptions {
  std::optional<MapTarget> target;  ///< absent: all source lines
  std::int64_t depth = 0;           ///< steps of PTX that feed the target; 0: all
  bool annotate = false;            ///< print the source with counts
  bool ptx_text = false;            ///< print only the PTX
};

/// Maps source lines to the PTX and the machine code that they became.
[[nodiscard]] ExitCode sass_map(const SassMapOptions& options);

}  // namespace fatune

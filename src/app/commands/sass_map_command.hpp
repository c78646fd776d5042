#pragma once

#include <cstdint>
#include <optional>

#include "app/sass/code_options.hpp"
#include "core/exit_code.hpp"
#include "core/map_target.hpp"

namespace fatune {

struct SassMapOptions : CodeOptions {
  std::optional<MapTarget> target;  ///< absent: all source lines
  std::int64_t depth = 0;           ///< steps of PTX that feed it; 0: all
  bool annotate = false;            ///< the source itself with counts
  bool ptx_text = false;            ///< the PTX alone
};

/// Which source lines became which PTX and which machine code.
[[nodiscard]] ExitCode sass_map(const SassMapOptions& options);

}  // namespace fatune

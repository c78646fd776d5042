#pragma once

#include <string>

#include "sass/listing.hpp"

namespace fatune {

/// Assembly without addresses, encodings and labels that nothing names: what an editor's compare
/// works on. Registers stay as they are.
[[nodiscard]] std::string clean_text(const SassFunction& function);

/// The control-flow graph in Graphviz' language, the main loop's blocks filled.
[[nodiscard]] std::string graph_text(const SassFunction& function);

}  // namespace fatune

#pragma once

#include <vector>

namespace fatune {

struct MergedStore;
struct OutputOptions;

/// Warns about damaged runs that were left out, and prints the result for each store.
void print_merged(const std::vector<MergedStore>& stores, const OutputOptions& output);

}  // namespace fatune

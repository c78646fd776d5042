#pragma once

namespace fatune_attention::detail {

/// Returns the code of this key, or -1 if there is none. `keys` has `count` keys of `parts`
/// numbers.
inline int find_kernel(const double* key, int parts, const double* keys, const int* codes,
                       int count) {
  for (int i = 0; i < count; ++i) {
    int same = 0;
    while (same < parts && keys[i * parts + same] == key[same]) {
      ++same;
    }
    if (same == parts) {
      return codes[i];
    }
  }
  return -1;
}

}  // namespace fatune_attention::detail

// Formulas of inputs with extreme values, for device and host: plain constexpr C++, no includes.
//
// Extreme scores: each query points one of three ways, or is zero, by its distance from the last
// one. Of the keys, the last one points the first way, the first one the second way and against the
// third, one in between the third way, so long that a score is 200 (288 as an exponent of 2); the
// others are normal. So some rows have one huge score, at the very end, at the very start or
// between, one way also has one of -200, and a quarter of the rows have equal scores. The signs of
// no two ways agree in more than half of any four neighbouring dimensions: their products are zero.
#ifndef FATUNE_KERNELS_REFERENCE_EXTREME_INPUTS_H
#define FATUNE_KERNELS_REFERENCE_EXTREME_INPUTS_H

inline constexpr float kExtremeScore = 200.0f;

constexpr float way_to_last(int dim) { return (dim & 1) != 0 ? -1.0f : 1.0f; }
constexpr float way_to_first(int) { return 1.0f; }
constexpr float way_between(int dim) { return (dim & 2) != 0 ? -1.0f : 1.0f; }

// A query, over the random sign of its dimension, which all vectors of a head share.
// shape: 0 <= row < rows
constexpr float extreme_query(int row, int rows, int dim) {
  switch ((rows - 1 - row) % 4) {
    case 0:
      return way_to_last(dim);
    case 1:
      return way_to_first(dim);
    case 2:
      return way_between(dim);
    default:
      return 0.0f;
  }
}

// Which keys are not normal. `between`: any key.
constexpr bool is_extreme_key(int row, int rows, int between) {
  return row == 0 || row == rows - 1 || row == between;
}

// Such a key, over the sign of its dimension and its length, kExtremeScore / sqrt(head dimension).
constexpr float extreme_key(int row, int rows, int dim) {
  if (row == rows - 1) {
    return way_to_last(dim);
  }
  return row == 0 ? way_to_first(dim) - way_between(dim) : way_between(dim);
}

// The greatest magnitude in V: that of fp16, whose greatest finite number an average of values may
// round to, and no further. BF16 reaches as far as fp32: sums over 2^24 keys must stay finite.
constexpr float greatest_large_value(bool is_bf16) { return is_bf16 ? 1e31f : 0.98f * 65504.0f; }

// Between half of that and all of it, with the sign of a normal number.
constexpr float large_value(float normal, bool is_bf16) {
  constexpr float kMostDeviations = 4.0f;
  const float deviations = normal < 0.0f ? -normal : normal;
  const float share = deviations < kMostDeviations ? deviations / kMostDeviations : 1.0f;
  const float magnitude = greatest_large_value(is_bf16) * (0.5f + 0.5f * share);
  return normal < 0.0f ? -magnitude : magnitude;
}

#endif

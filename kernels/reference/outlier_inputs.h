// Formulas of inputs with outliers, and of the scales that a deployment computes for 8 bits, for
// device and host: plain constexpr C++, no includes.
//
// Caches of models have a few columns that are much greater than all others. Here one column in 32
// is 16 times as great: of Q, of K and of V another one. Where Q has its outliers, K is a sixteenth
// of a normal number, and the other way round. So products, and with them scores, are as great as
// those of normal inputs, and no single key takes all the weight.
//
// Errors of O are compared in units of its columns: those of V's outliers are divided by 16, which
// as a power of two leaves roundings as they are. Otherwise the few great columns would decide on
// the limit, and nothing would limit the others.
#ifndef FATUNE_KERNELS_REFERENCE_OUTLIER_INPUTS_H
#define FATUNE_KERNELS_REFERENCE_OUTLIER_INPUTS_H

inline constexpr int kColumnsPerOutlier = 32;
inline constexpr float kOutlierFactor = 16.0f;

// Which of kColumnsPerOutlier columns is the outlier: one of the first eight, which every tensor
// has. tensor: 0: Q, 1: K, 2: V
constexpr int outlier_column(int tensor) { return tensor == 0 ? 6 : (tensor == 1 ? 3 : 5); }

// What a normal number in a column is multiplied by.
constexpr float outlier_factor(int tensor, int column) {
  const int place = column % kColumnsPerOutlier;
  if (place == outlier_column(tensor)) {
    return kOutlierFactor;
  }
  const bool other_has_one = tensor < 2 && place == outlier_column(1 - tensor);
  return other_has_one ? 1.0f / kOutlierFactor : 1.0f;
}

// What errors in a column of O are divided by.
constexpr float outlier_unit(int column) { return outlier_factor(2, column); }

// The greatest number of a type of 8 bits: e4m3, or e5m2.
constexpr float greatest_eight_bit_number(bool is_e4m3) { return is_e4m3 ? 448.0f : 57344.0f; }

// The scale of elements of which none is greater: that one is stored as the type's greatest number.
// Elements that are all tiny have the least scale, which can be divided by.
inline constexpr float kLeastFittedScale = 1e-8f;
constexpr float fitted_scale(float greatest, bool is_e4m3) {
  const float scale = greatest / greatest_eight_bit_number(is_e4m3);
  return scale > kLeastFittedScale ? scale : kLeastFittedScale;
}

#endif

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace fatune {

/// How Q, K and V are filled for verification (kernels/reference/random_inputs.cuh has the
/// formulas). The values are the kernels' argument.
enum class InputKind : int {
  normal = 0,          ///< all elements normal(0, 1); timing uses these too
  large_logits = 1,    ///< queries scaled so that logits reach about +-30
  dominating_key = 2,  ///< in each head one key, anywhere in the sequence, has logits of about 16
};

inline constexpr std::array kInputKinds{InputKind::normal, InputKind::large_logits,
                                        InputKind::dominating_key};

/// Those that are verified on the probe problem alone (probe_problem.hpp).
inline constexpr std::array kProbeKinds{InputKind::large_logits, InputKind::dominating_key};

[[nodiscard]] constexpr std::string_view input_kind_name(InputKind kind) {
  constexpr std::array<std::string_view, kInputKinds.size()> kNames{"normal", "large_logits",
                                                                    "dominating_key"};
  return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace fatune

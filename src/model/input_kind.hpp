#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ranges.hpp"
#include "model/head_problem.hpp"

namespace fatune {

/// How Q, K and V are filled, for verification on a GPU and in the emulator, and for debugging.
/// Kinds with an explicit value are passed to kernels/reference/random_inputs.cuh as that value.
enum class InputKind : int {
  normal = 0,
  large_logits = 1,
  dominating_key = 2,
  extreme_scores = 3,
  large_values = 4,
  outliers = 5,
  range,
  onehot,
  identity,
  constant
};

struct InputKindText {
  InputKind kind;
  std::string_view name;
  std::string_view doc;
};

/// All kinds, in the order of their values.
inline constexpr std::array kInputKindTexts{
    InputKindText{InputKind::normal, "normal", "normal(0, 1)"},
    InputKindText{InputKind::large_logits, "large_logits",
                  "normal with queries seven times as large"},
    InputKindText{InputKind::dominating_key, "dominating_key",
                  "normal, but one key, which all queries lean towards, has logits of about 16"},
    InputKindText{InputKind::extreme_scores, "extreme_scores",
                  "rows with one score of 200, at the very end, at the very start or between, and "
                  "rows of equal scores"},
    InputKindText{InputKind::large_values, "large_values",
                  "normal, but V near the greatest finite number (bf16: 1e31)"},
    InputKindText{InputKind::outliers, "outliers",
                  "normal, but one column in 32 of Q, of K and of V is 16 times as great"},
    InputKindText{InputKind::range, "range",
                  "falling from 2 to 0 over each tensor: the greatest scores are the first keys'"},
    InputKindText{InputKind::onehot, "onehot", "one element of each tensor is 1, the others 0"},
    InputKindText{InputKind::identity, "identity", "row i is 1 in column i mod d_head, else 0"},
    InputKindText{InputKind::constant, "constant", "every element is 1"}};

/// The kinds that candidates and emulated configurations are verified on. With large logits the
/// greatest score of a row rises from tile to tile, which rarely happens with normal inputs. With a
/// dominating key it rises once, and earlier sums have to vanish. Extreme scores overflow if no
/// maximum is subtracted, and large values overflow if sums are kept in 16 bits. Outliers, which
/// only problems with elements of 8 bits have, are stored with the scales of a deployment.
inline constexpr std::array kInputKinds{InputKind::normal,         InputKind::large_logits,
                                        InputKind::dominating_key, InputKind::extreme_scores,
                                        InputKind::large_values,   InputKind::outliers};
/// Those of a problem.
[[nodiscard]] inline std::span<const InputKind> input_kinds(const Problem& problem) {
  return std::span(kInputKinds).first(kInputKinds.size() - (has_scales(problem) ? 0 : 1));
}

/// The kinds that are verified only on the probe problem (problem.hpp): all but normal.
[[nodiscard]] inline std::span<const InputKind> probe_kinds(const Problem& problem) {
  return input_kinds(problem).subspan(1);
}
inline constexpr std::size_t kMostProbeKinds = kInputKinds.size() - 1;

/// Whether scales of 8 bits are those that a deployment computes for the inputs: the greatest
/// magnitude of what shares a scale is stored as the greatest number of the type.
[[nodiscard]] constexpr bool has_fitted_scales(InputKind kind) {
  return kind == InputKind::outliers;
}

/// The probe kinds that test values. Their errors show in a few tiles, whatever the lengths.
inline constexpr std::array kValueKinds{InputKind::extreme_scores, InputKind::large_values};
[[nodiscard]] constexpr bool is_about_values(InputKind kind) { return is_among(kind, kValueKinds); }

[[nodiscard]] constexpr std::string_view input_kind_name(InputKind kind) {
  return kInputKindTexts.at(static_cast<std::size_t>(kind)).name;
}
/// Reads a kind's name. "random" is another name of normal. Throws
/// Error(usage), which lists the names, for any other text.
[[nodiscard]] InputKind parse_input_kind(std::string_view text);

/// Elements of the head's dtype, or those of 8 bits of a problem, one in each word. shape: q
/// (seq_len, d_head), k (seq_len_kv, d_head), v (seq_len_kv, d_head_v), sinks (heads): only where
/// heads have them
struct HeadInputs {
  std::vector<std::uint16_t> q;
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
  std::vector<float> sinks = {};
  std::vector<std::int32_t> page_table{};  ///< of pools K and V (kv_pages.hpp); empty: contiguous
  std::vector<float> k_scales{};           ///< scale_shape(); empty: there are none
  std::vector<float> v_scales{};
  std::vector<float> q_scales{};
};

/// What errors in each column of O are divided by when they are compared; empty: nothing.
[[nodiscard]] std::vector<double> column_units(const Problem& problem, InputKind kind);

/// The sinks of all query heads; empty if the problem has none. Some outweigh the keys, others
/// hardly count, and with extreme scores some are far beyond what exp() can take. shape: (heads);
/// units: scaled scores
[[nodiscard]] std::vector<float> make_sinks(const Problem& problem, InputKind kind);

/// The scales of Q, K or V, if these have 8 bits. Neighbours differ. Inputs of the kind, divided by
/// them, use all of a format's numbers: with some scales the greatest inputs are beyond the
/// greatest number, with others most are subnormal. If the kind has_fitted_scales(), these are the
/// least ones, which fit_scale() raises. shape: scale_shape(); role: q, k or v
[[nodiscard]] std::vector<float> make_scales(const Problem& problem, TensorRole role,
                                             InputKind kind);

/// Raises the scale of elements of K and V, or of Q, to the one that fits `value` too.
void fit_scale(const Problem& problem, double value, float& scale);

/// Makes the inputs of one head. `seed` decides all kinds except range, identity and constant. With
/// onehot, Q and K have their 1 in the same column, K and V in the same row, and the query sees
/// that key. V of a latent problem is columns of K, whatever the kind says of V.
[[nodiscard]] HeadInputs make_head_inputs(const HeadProblem& head, InputKind kind,
                                          std::uint64_t seed);

/// The inputs of the query heads that share a key head.
struct GroupInputs {
  std::vector<std::vector<std::uint16_t>> q;  ///< one for each query head
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
};
/// Makes the inputs of a group. A group of one has the inputs of make_head_inputs().
[[nodiscard]] GroupInputs make_group_inputs(const HeadProblem& head, std::int64_t group,
                                            InputKind kind, std::uint64_t seed);

}  // namespace fatune

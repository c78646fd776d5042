#pragma once

#include <array>
#include <string_view>

namespace fatune {

/// How Q, K and V are filled for debugging.
enum class InitKind { random, range, onehot, identity, constant, large_logits, dominating_key };

struct InitKindText {
  InitKind kind;
  std::string_view name;
  std::string_view doc;
};

inline constexpr std::array kInitKinds{
    InitKindText{InitKind::random, "random", "normal(0, 1)"},
    InitKindText{InitKind::range, "range",
                 "falling from 2 to 0 over each tensor: the greatest scores are the first keys'"},
    InitKindText{InitKind::onehot, "onehot", "one element of each tensor is 1, the others 0"},
    InitKindText{InitKind::identity, "identity", "row i is 1 in column i mod d_head, else 0"},
    InitKindText{InitKind::constant, "constant", "every element is 1"},
    InitKindText{InitKind::large_logits, "large_logits",
                 "random with queries seven times as large"},
    InitKindText{InitKind::dominating_key, "dominating_key",
                 "random, but one key, which all queries lean towards, has logits of about 16"}};

[[nodiscard]] std::string_view init_kind_name(InitKind kind);
[[nodiscard]] InitKind parse_init_kind(std::string_view text);  ///< Error(usage) lists the names

}  // namespace fatune

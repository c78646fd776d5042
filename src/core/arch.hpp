#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace fatune {

/// A real GPU architecture: sm_80, sm_90a.
struct Arch {
  int sm = 0;          ///< 10 * major + minor: 80, 86, 89, 90, 100
  char suffix = '\0';  ///< 'a' for architecture-specific features, else '\0'

  auto operator<=>(const Arch&) const = default;
};

/// The oldest architecture that fatune's own kernels run on.
inline constexpr Arch kOldestArch{80, '\0'};
/// The first whose GPUs have features that only code for a name with the suffix 'a' may use.
inline constexpr int kFirstSuffixSm = 90;

/// True if code for `least` runs on `arch`: `arch` is not older, or, if `least` has a suffix, both
/// are equal.
[[nodiscard]] bool provides(Arch arch, Arch least);

/// Reads "sm_90a", "90a", "9.0", "sm_80". Throws Error(usage) for anything else, for architectures
/// below sm_80, and for a suffix below kFirstSuffixSm.
[[nodiscard]] Arch parse_arch(std::string_view text);
[[nodiscard]] std::string arch_name(Arch arch);          ///< "sm_90a"
[[nodiscard]] std::string virtual_arch_name(Arch arch);  ///< "compute_90a", for PTX

}  // namespace fatune

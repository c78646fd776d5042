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

/// Whether `arch` has what code for `least` needs: it is no older; for an architecture with a
/// suffix, it is that one.
[[nodiscard]] bool provides(Arch arch, Arch least);

/// Reads "sm_90a", "90a", "9.0", "sm_80". Throws Error(usage) on anything else, and below sm_80.
[[nodiscard]] Arch parse_arch(std::string_view text);
[[nodiscard]] std::string arch_name(Arch arch);          ///< "sm_90a"
[[nodiscard]] std::string virtual_arch_name(Arch arch);  ///< "compute_90a": of PTX

}  // namespace fatune

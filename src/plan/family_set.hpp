#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The separator in a text that names several families, or several of their spaces.
inline constexpr char kJoin = '+';

/// Families whose configurations are tried together, in a fixed order; at least one.
class FamilySet {
 public:
  /// Precondition: at least one family; all names differ.
  explicit FamilySet(std::vector<Family> families);

  /// The configuration's family. Throws Error(internal) if it is none of these.
  [[nodiscard]] const Family& of(const Config& config) const;
  /// The family with that name; null if there is none.
  [[nodiscard]] const Family* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Family>& all() const { return families_; }
  [[nodiscard]] bool several() const { return families_.size() > 1; }
  [[nodiscard]] std::string names() const;  ///< "flash_sm80", "flash_sm80+flash_sm90"
  /// Drops the families for which `keeps` is false. Precondition: at least one is kept.
  void keep_if(const std::function<bool(const Family&)>& keeps);

 private:
  std::vector<Family> families_;
};

/// Reads a configuration of any of the families, as parse_config(family, text) does. Throws
/// Error(usage) if several can read it. If none can, throws the error of the family that reads
/// furthest.
[[nodiscard]] Config parse_config(const FamilySet& families, std::string_view text);

}  // namespace fatune

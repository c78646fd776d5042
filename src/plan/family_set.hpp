#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The separator where one text names several families, or several of their spaces.
inline constexpr char kJoin = '+';

/// Families whose configurations are tried together, in a fixed order; at least one.
class FamilySet {
 public:
  /// Precondition: at least one, with names that differ.
  explicit FamilySet(std::vector<Family> families);

  /// The configuration's family. Error(internal) when it is none of these.
  [[nodiscard]] const Family& of(const Config& config) const;
  /// Null when there is none of that name.
  [[nodiscard]] const Family* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Family>& all() const { return families_; }
  [[nodiscard]] bool several() const { return families_.size() > 1; }
  [[nodiscard]] std::string names() const;   ///< "flash_sm80", "flash_sm80+flash_sm90"
  [[nodiscard]] Arch least_arch() const;     ///< that one of them can do with
  [[nodiscard]] Arch greatest_arch() const;  ///< that one of them needs
  /// Drops the others. Precondition: one of them is kept.
  void keep_if(const std::function<bool(const Family&)>& keeps);

 private:
  std::vector<Family> families_;
};

/// Reads a configuration of any of the families, as parse_config(family, text) does. Error(usage)
/// when several can read it; when none can, that of the family that reads furthest.
[[nodiscard]] Config parse_config(const FamilySet& families, std::string_view text);

}  // namespace fatune

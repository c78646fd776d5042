#include "plan/family_set.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"
#include "plan/config_text.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

/// The readings of one text by several families.
class Readings {
 public:
  void add(const Family& family, std::string_view text) {
    try {
      configs_.push_back(parse_config(family, text));
    } catch (const UnreadableConfig& error) {
      if (!furthest_ || error.position() > furthest_->position()) {
        furthest_ = error;
      }
    }
  }

  [[nodiscard]] Config only(std::string_view text) const {
    if (configs_.empty()) {
      throw UnreadableConfig(*furthest_);
    }
    if (configs_.size() > 1) {
      throw Error(ExitCode::usage,
                  fmt::format("'{}' is a configuration of several families", printable(text)), {},
                  "choose one with --family: " + joined(configs_, ", ", &Config::family));
    }
    return configs_.front();
  }

 private:
  std::vector<Config> configs_;
  std::optional<UnreadableConfig> furthest_;
};

}  // namespace

FamilySet::FamilySet(std::vector<Family> families) : families_(std::move(families)) {}

const Family* FamilySet::find(std::string_view name) const {
  const auto found = std::ranges::find(families_, name, &Family::name);
  return found == families_.end() ? nullptr : &*found;
}

const Family& FamilySet::of(const Config& config) const {
  const Family* const family = find(config.family);
  if (family == nullptr) {
    throw Error(ExitCode::internal,
                fmt::format("a configuration of '{}' among those of {}", config.family, names()));
  }
  return *family;
}

std::string FamilySet::names() const { return joined(families_, {&kJoin, 1}, &Family::name); }

void FamilySet::keep_if(const std::function<bool(const Family&)>& keeps) {
  std::erase_if(families_, [&](const Family& family) { return !keeps(family); });
}

Config parse_config(const FamilySet& families, std::string_view text) {
  if (!families.several()) {
    return parse_config(families.all().front(), text);
  }
  Readings readings;
  for (const Family& family : families.all()) {
    readings.add(family, text);
  }
  return readings.only(text);
}

}  // namespace fatune

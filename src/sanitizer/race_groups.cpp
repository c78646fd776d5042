#include "sanitizer/race_groups.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace fatune {
namespace {

using Places = std::set<std::string>;

/// The place of an access: "kernel+0xd0" of "Read access at kernel+0xd0".
std::string place_of(const std::string& access) {
  constexpr std::string_view kMark = " access at ";
  const std::size_t at = access.find(kMark);
  return at == std::string::npos ? access : access.substr(at + kMark.size());
}

/// The name that represents a race: its first access.
const std::string& name_of(const SanitizerFinding& race) {
  return race.place.empty() ? race.what : race.place;
}

Places places_of(const SanitizerFinding& race) {
  Places places{name_of(race)};
  for (const std::string& access : race.against) {
    places.insert(place_of(access));
  }
  return places;
}

bool share_one(const Places& a, const Places& b) {
  return std::ranges::any_of(a, [&](const std::string& place) { return b.contains(place); });
}

/// Joins the places with all groups that share a place with them.
void add(Places places, std::vector<Places>& groups) {
  const auto shares = [&](const Places& group) { return share_one(group, places); };
  const auto first = std::ranges::find_if(groups, shares);
  if (first == groups.end()) {
    groups.push_back(std::move(places));
    return;
  }
  const auto apart = std::stable_partition(first, groups.end(), shares);
  for (auto group = std::next(first); group != apart; ++group) {
    first->merge(*group);
  }
  first->merge(places);
  groups.erase(std::next(first), apart);
}

}  // namespace

void number_race_groups(std::vector<SanitizerFinding>& findings) {
  const auto is_race = [](const SanitizerFinding& finding) { return finding.kind == "race"; };
  std::vector<Places> groups;
  for (const SanitizerFinding& finding : findings) {
    if (is_race(finding)) {
      add(places_of(finding), groups);
    }
  }
  for (SanitizerFinding& finding : findings) {
    const auto group = std::ranges::find_if(
        groups, [&](const Places& places) { return places.contains(name_of(finding)); });
    finding.group = is_race(finding) ? 1 + (group - groups.begin()) : 0;
  }
}

std::int64_t count_groups(const std::vector<SanitizerFinding>& findings) {
  std::int64_t most = 0;
  for (const SanitizerFinding& finding : findings) {
    most = std::max(most, finding.group);
  }
  return most;
}

}  // namespace fatune

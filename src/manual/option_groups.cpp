#include "manual/option_groups.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/is_among.hpp"
#include "manual/page_walk.hpp"

namespace fatune {
namespace {

constexpr std::size_t kFewOptions = 16;

[[noreturn]] void fail(const CommandPage& page, const std::string& what) {
  throw std::logic_error("'" + command_text(page) + "' " + what);
}

GroupOfOptions all_options(const CommandPage& page) {
  GroupOfOptions all;
  for (const OptionPage& option : page.options) {
    all.options.push_back(&option);
  }
  return all;
}

}  // namespace

bool is_grouped(const CommandPage& page) { return page.options.size() > kFewOptions; }

std::vector<GroupOfOptions> grouped_options(const CommandPage& page) {
  if (!is_grouped(page)) {
    return {all_options(page)};
  }
  std::vector<GroupOfOptions> groups;
  for (const std::string_view title : kOptionGroups) {
    groups.push_back({title, {}});
  }
  for (const OptionPage& option : page.options) {
    const auto group = std::ranges::find(groups, option.group, &GroupOfOptions::title);
    if (group == groups.end()) {
      fail(page, "has " + option.names.back() + " in no group; see cli/option.hpp");
    }
    group->options.push_back(&option);
  }
  std::erase_if(groups, [](const GroupOfOptions& group) { return group.options.empty(); });
  return groups;
}

std::string completion_hint(const CommandPage& page, const OptionPage& option) {
  return is_grouped(page) ? option.group + ": " + option.doc : option.doc;
}

std::vector<const OptionPage*> common_options(const CommandPage& page) {
  std::vector<const OptionPage*> common;
  for (const std::string& name : page.common) {
    const auto option = std::ranges::find_if(
        page.options, [&](const OptionPage& one) { return is_among(name, one.names); });
    if (option == page.options.end()) {
      fail(page, "has no " + name + ", which cli/common_options.hpp lists");
    }
    common.push_back(&*option);
  }
  return common;
}

}  // namespace fatune

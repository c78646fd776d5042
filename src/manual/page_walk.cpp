#include "manual/page_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fatune {

std::vector<const CommandPage*> all_pages(const CommandPage& page) {
  std::vector<const CommandPage*> pages{&page};
  for (const CommandPage& command : page.commands) {
    const auto inner = all_pages(command);
    pages.insert(pages.end(), inner.begin(), inner.end());
  }
  return pages;
}

std::string command_text(const CommandPage& page, const std::string& separator) {
  return fmt::format("{}", fmt::join(page.words, separator));
}

bool takes_word(const OptionPage& option) {
  return !option.value.empty() && !option.value_may_be_absent;
}

}  // namespace fatune

#include "emit/document/shared_parts.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fatune {
namespace {

using Words = std::vector<std::string>;

/// The parts of a short form. No values: the text is not a short form.
struct Parts {
  Words values;
  Words flags;

  [[nodiscard]] bool is_config() const { return !values.empty(); }
};

Words split(std::string_view text, std::string_view separator) {
  Words words;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end, text.size()))) {
    end = text.find(separator);
    words.emplace_back(text.substr(0, end));
    end = end == std::string_view::npos ? text.size() : end + separator.size();
  }
  return words;
}

Parts parts_of(const std::string& text) {
  const std::size_t end = text.find("): ");
  if (!text.starts_with('(') || end == std::string::npos) {
    return {};
  }
  return {split(std::string_view(text).substr(1, end - 1), ", "),
          split(std::string_view(text).substr(end + 3), "+")};
}

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// The parts that both have.
Parts common_of(const Parts& a, const Parts& b) {
  Parts common;
  const auto end =
      std::mismatch(a.values.begin(), a.values.end(), b.values.begin(), b.values.end());
  common.values.assign(a.values.begin(), end.first);
  for (const std::string& flag : a.flags) {
    if (has(b.flags, flag)) {
      common.flags.push_back(flag);
    }
  }
  return common;
}

/// The flags of `all`, with "..." for those that are not common.
std::string flags_text(const Words& all, const Words& common) {
  Words shown;
  for (const std::string& flag : all) {
    if (has(common, flag)) {
      shown.push_back(flag);
    } else if (shown.empty() || shown.back() != "...") {
      shown.emplace_back("...");
    }
  }
  return fmt::format("{}", fmt::join(shown, "+"));
}

std::string common_text(const Parts& first, const Parts& common) {
  const bool all_values = common.values.size() == first.values.size();
  const char* const more = all_values ? "" : common.values.empty() ? "..." : ", ...";
  return fmt::format("({}{}): {}", fmt::join(common.values, ", "), more,
                     flags_text(first.flags, common.flags));
}

std::string rest_of(const Parts& parts, const Parts& common) {
  const auto first = parts.values.begin() + static_cast<std::ptrdiff_t>(common.values.size());
  Words flags = parts.flags;
  std::erase_if(flags, [&](const std::string& flag) { return has(common.flags, flag); });
  std::string text;
  if (first != parts.values.end()) {
    text =
        fmt::format("{}){}", fmt::join(first, parts.values.end(), ", "), flags.empty() ? "" : ": ");
  }
  text += fmt::format("{}", fmt::join(flags, "+"));
  return text.empty() ? "-" : text;
}

}  // namespace

std::optional<SharedParts> share_parts(const std::vector<std::string>& texts) {
  std::vector<Parts> all;
  std::optional<Parts> common;
  std::optional<Parts> first;
  for (const std::string& text : texts) {
    const Parts& parts = all.emplace_back(parts_of(text));
    if (parts.is_config()) {
      first = first ? first : parts;
      common = common ? common_of(*common, parts) : parts;
    }
  }
  if (!common || (common->values.empty() && common->flags.empty())) {
    return std::nullopt;
  }
  SharedParts shared{common_text(*first, *common), {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    shared.rest.push_back(all[i].is_config() ? rest_of(all[i], *common) : texts[i]);
  }
  return shared;
}

}  // namespace fatune

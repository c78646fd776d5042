#include "core/visible_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "core/text_fit.hpp"

namespace fatune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Sequence {
  std::uint32_t code_point = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

struct Characters {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Unicode's controls, format characters without a visible form, surrogates and noncharacters. The
// noncharacters at the end of each plane are found by their low bits.
constexpr std::array kInvisible{
    Characters{0x0000, 0x001F},   Characters{0x007F, 0x009F}, Characters{0x00AD, 0x00AD},
    Characters{0x061C, 0x061C},   Characters{0x180E, 0x180E}, Characters{0x200B, 0x200F},
    Characters{0x2028, 0x202E},   Characters{0x2060, 0x206F}, Characters{0xD800, 0xDFFF},
    Characters{0xFDD0, 0xFDEF},   Characters{0xFEFF, 0xFEFF}, Characters{0xFFF9, 0xFFFB},
    Characters{0xE0000, 0xE007F},
};

bool is_invisible(std::uint32_t code_point) {
  constexpr std::uint32_t kEndOfPlane = 0xFFFE;
  return (code_point & kEndOfPlane) == kEndOfPlane ||
         std::ranges::any_of(kInvisible, [&](const Characters& some) {
           return some.first <= code_point && code_point <= some.last;
         });
}

std::size_t length_after(unsigned char lead) {
  if (lead < 0x80U) {
    return 1;
  }
  if (lead >= 0xC2U && lead < 0xE0U) {
    return 2;
  }
  if (lead >= 0xE0U && lead < 0xF0U) {
    return 3;
  }
  return lead >= 0xF0U && lead < 0xF5U ? 4 : 0;
}

bool is_shortest_form(const Sequence& sequence) {
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  return sequence.code_point >= kLeast.at(sequence.bytes) && sequence.code_point <= 0x10FFFF;
}

/// The code point that `text`, which is not empty, begins with.
Sequence first_sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  Sequence sequence{lead, length_after(lead)};
  if (sequence.bytes == 0 || sequence.bytes > text.size()) {
    return {};
  }
  if (sequence.bytes > 1) {
    sequence.code_point &= 0x7FU >> sequence.bytes;
  }
  for (const char c : text.substr(1, sequence.bytes - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80U) {
      return {};
    }
    sequence.code_point = sequence.code_point << 6U | (byte & 0x3FU);
  }
  return is_shortest_form(sequence) ? sequence : Sequence{};
}

/// The code point as JSON escapes it: as UTF-16.
std::string json_escape(std::uint32_t code_point) {
  constexpr std::uint32_t kFirstPair = 0x10000;
  return code_point < kFirstPair
             ? fmt::format("\\u{:04x}", code_point)
             : fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + ((code_point - kFirstPair) >> 10U),
                           0xDC00U + ((code_point - kFirstPair) & 0x3FFU));
}

bool is_ascii_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20U || byte == 0x7FU;
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Sequence sequence = first_sequence(text);
    const bool kept = sequence.bytes > 0 && !is_invisible(sequence.code_point);
    shown += kept ? text.substr(0, sequence.bytes) : kReplacement;
    text.remove_prefix(std::max<std::size_t>(sequence.bytes, 1));
  }
  return shown;
}

std::string visible_lines(std::string_view text) {
  std::string shown;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find_first_of("\n\t");
    shown += visible_text(text.substr(0, end));
    shown += end == std::string_view::npos ? std::string_view() : text.substr(end, 1);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return shown;
}

std::string visible_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, is_ascii_control, ' ');
  return visible_text(line);
}

std::string visible_json(std::string_view json) {
  constexpr unsigned char kFirst = 0x7F;  // below it, JSON has only line breaks outside of strings
  std::string shown;
  shown.reserve(json.size());
  while (!json.empty()) {
    const auto plain =
        std::ranges::find_if(json, [](char c) { return static_cast<unsigned char>(c) >= kFirst; });
    const auto length = static_cast<std::size_t>(plain - json.begin());
    shown += json.substr(0, length);
    json.remove_prefix(length);
    if (!json.empty()) {
      const Sequence sequence = first_sequence(json);
      const std::size_t bytes = std::max<std::size_t>(sequence.bytes, 1);
      shown += is_invisible(sequence.code_point) ? json_escape(sequence.code_point)
                                                 : std::string(json.substr(0, bytes));
      json.remove_prefix(bytes);
    }
  }
  return shown;
}

std::string visible_text(std::string_view text, std::size_t most) {
  return shortened(visible_text(text), most);
}

}  // namespace fatune

#include "base/text_parts.hpp"

#include <algorithm>
#include <cctype>

namespace fatune {

bool is_word_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '_' || (byte < 128 && std::isalnum(byte) != 0);
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (bool more = true; more;) {
    more = text.find(separator) != std::string_view::npos;
    parts.push_back(take_until(text, separator));
  }
  return parts;
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t at = text.find(open);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + open.size());
  const std::size_t end = text.find(close);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '[' || c == '(' || c == '{' ? 1 : 0;
    depth -= c == ']' || c == ')' || c == '}' ? 1 : 0;
    if (i == text.size() || (c == ',' && depth <= 0)) {
      const std::string_view operand = trim(text.substr(from, i - from));
      if (!operand.empty()) {
        operands.emplace_back(operand);
      }
      from = i + 1;
    }
  }
  return operands;
}

}  // namespace fatune

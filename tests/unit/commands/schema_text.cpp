#include "unit/commands/schema_text.hpp"

namespace fatune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 120;

std::string key_text(const Json& container, const std::string& key) {
  return container.is_object() ? Json(key).dump() + ": " : "";
}

std::string on_one_line(const Json& value) {
  if (!value.is_structured()) {
    return value.dump();
  }
  std::string text;
  for (const auto& [key, item] : value.items()) {
    text += (text.empty() ? "" : ", ") + key_text(value, key) + on_one_line(item);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// `used` is the number of columns taken before and after the value.
std::string text_of(const Json& value, std::size_t indent, std::size_t used) {
  const std::string line = on_one_line(value);
  if (!value.is_structured() || value.empty() || used + line.size() <= kColumns) {
    return line;
  }
  std::string text;
  for (const auto& [key, item] : value.items()) {
    const std::string name = key_text(value, key);
    text += (text.empty() ? "\n" : ",\n") + std::string(indent + 2, ' ') + name +
            text_of(item, indent + 2, indent + 3 + name.size());
  }
  text += "\n" + std::string(indent, ' ');
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string schema_text(const Json& schema) { return text_of(schema, 0, 0) + "\n"; }

}  // namespace fatune

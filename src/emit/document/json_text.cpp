#include "emit/document/json_text.hpp"

#include <cmath>

#include "core/text_parts.hpp"
#include "core/visible_text.hpp"

namespace fatune {
namespace {

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  Json operator()(const std::string& value) const { return value; }
};

}  // namespace

FieldValue typed_value(const std::string& text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  const auto number = whole_number<std::int64_t>(text);
  return number ? FieldValue{*number} : FieldValue{text};
}

Json json_value(const FieldValue& value) { return std::visit(ToJson{}, value); }

std::string json_text(const Json& json) {
  return visible_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string json_line(const Json& json) {
  return visible_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace fatune

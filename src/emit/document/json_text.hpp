#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "emit/document/field.hpp"
#include "report/report.hpp"

namespace fatune {

using Json = nlohmann::ordered_json;

/// null for no value and for numbers that are not finite: JSON has no NaN.
[[nodiscard]] Json json_value(const FieldValue& value);

/// null if there is no value or the text is empty.
template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json json_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Row>
Json json_object(const Fields<Row>& fields, const Row& row) {
  Json object = Json::object();
  for (const Field<Row>& field : fields) {
    object[std::string(field.name)] = json_value(field.get(row));
  }
  return object;
}

/// An array with make(item) for each item.
template <typename Items, typename Make>
Json json_list(const Items& items, Make&& make) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.push_back(make(item));
  }
  return list;
}

template <typename Row>
Json json_rows(const Fields<Row>& fields, const std::vector<Row>& rows) {
  return json_list(rows, [&](const Row& row) { return json_object(fields, row); });
}

/// The value that a parameter's text stands for: true, 128, "FP16".
[[nodiscard]] FieldValue typed_value(const std::string& text);

/// Indented, with a line break at the end. Bytes that are not UTF-8 (a compiler's log may hold any)
/// become U+FFFD.
[[nodiscard]] std::string json_text(const Json& json);
/// Like json_text(), but in one line.
[[nodiscard]] std::string json_line(const Json& json);

}  // namespace fatune

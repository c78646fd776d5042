#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "emit/document/field.hpp"
#include "emit/document/json_text.hpp"

namespace fatune {

/// Writes a property's value: JSON and lists of strings as they are, others as a field's value.
template <typename Value>
struct PropertyValue {
  static constexpr FieldType kType = TypeOfField<Value>::kType;
  static Json json(const Value& value) { return json_value(TypeOfField<Value>::value(value)); }
};
template <typename Value>
requires std::is_same_v<Value, Json> || std::is_same_v<Value, std::vector<std::string>>
struct PropertyValue<Value> {
  static constexpr FieldType kType{};
  static Json json(const Value& value) { return value; }
};

/// Gets an object's value for a property. It is made from a lambda without captures.
template <typename Object>
class PropertyGetter {
 public:
  // NOLINTBEGIN(google-explicit-constructor): it stands for what it is made of in lists
  template <typename Get, typename Value = std::invoke_result_t<Get, const Object&>>
  requires std::is_empty_v<Get> PropertyGetter(Get /*get*/)
      : type_(PropertyValue<Value>::kType),
        get_([](const Object& object) { return PropertyValue<Value>::json(Get{}(object)); }) {}
  // NOLINTEND(google-explicit-constructor)

  Json operator()(const Object& object) const { return get_(object); }
  [[nodiscard]] FieldType type() const { return type_; }

 private:
  FieldType type_;
  Json (*get_)(const Object&);
};

/// One property of a JSON object that no table shows. A list of these is the only description of
/// such an object: the object is printed from it, and its JSON Schema is written from it.
template <typename Object>
struct Property {
  std::string_view name;
  std::string_view doc;  ///< its description in the schema; empty: the schema's definition has one
  PropertyGetter<Object> get;
};
template <typename Object>
using Properties = std::vector<Property<Object>>;

template <typename Object>
Json json_object(const Properties<Object>& properties, const Object& object) {
  Json json = Json::object();
  for (const Property<Object>& property : properties) {
    json[std::string(property.name)] = property.get(object);
  }
  return json;
}

}  // namespace fatune

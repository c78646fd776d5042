#include "base/json_file.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOutputBytes = std::size_t{1} << 30;  // results.json of a long sweep

[[noreturn]] void fail_syntax(const std::string& origin, const std::string& what,
                              const std::string& remedy = {}) {
  throw Error(ExitCode::bad_file, what, origin, remedy);
}

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

/// nlohmann's message without its prefix ("[json.exception.parse_error.101] parse error at line 1,
/// column 2: ").
std::string parser_message(const json::parse_error& error) {
  const std::string_view what = error.what();
  const std::size_t colon = what.find(": ");
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// Checks every value while it is parsed: its depth, and keys that appear twice in one object. The
/// parser would silently keep the last of these.
class StructureCheck {
 public:
  explicit StructureCheck(std::string origin) : origin_(std::move(origin)) {}

  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    if (std::cmp_greater(depth, kMostJsonLevels)) {
      fail_syntax(origin_, fmt::format("is nested more than {} levels deep", kMostJsonLevels));
    }
    if (event == json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        fail_syntax(origin_, fmt::format("key '{}' appears twice in one object", key),
                    "remove one of the two");
      }
    }
    return true;
  }

 private:
  std::string origin_;
  std::vector<std::set<std::string>> keys_;
};

JsonFile checked(std::string_view text, const FileTree& tree, const std::string& origin,
                 std::string_view schema) {
  json value = parse_json(text, origin);
  check_schema(value, tree, schema, origin);
  return {std::move(value), origin};
}

std::string_view schema_of_format(const json& value, std::span<const std::string_view> schemas,
                                  const std::string& origin) {
  const auto format = value.find("format");
  const auto schema = std::ranges::find_if(schemas, [&](std::string_view known) {
    return format != value.end() && *format == fmt::format("fatune.{}", known);
  });
  if (schema == schemas.end()) {
    fail_syntax(origin, "its \"format\" is not one of those that fatune reads",
                fmt::format("give a file of {}", fmt::join(schemas, ", ")));
  }
  return *schema;
}

}  // namespace

std::string json_pointer_token(const std::string& key) {
  std::string escaped;
  for (const char c : key) {
    escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return escaped;
}

json parse_json(std::string_view text, const std::string& origin) {
  try {
    StructureCheck check(origin);
    return json::parse(text.begin(), text.end(), std::ref(check));
  } catch (const json::parse_error& error) {
    fail_syntax(origin, fmt::format("{} is not valid JSON: {}", line_and_column(text, error.byte),
                                    parser_message(error)));
  } catch (const json::exception& error) {  // such as a number out of range
    fail_syntax(origin, fmt::format("is not valid JSON: {}", error.what()));
  }
}

JsonNode::JsonNode(const json& value, std::string origin, std::string pointer)
    : value_(&value), origin_(std::move(origin)), pointer_(std::move(pointer)) {}

std::string JsonNode::where() const { return origin_ + ": " + (pointer_.empty() ? "/" : pointer_); }

void JsonNode::fail(const std::string& what_was_wrong, const std::string& remedy) const {
  throw Error(ExitCode::bad_file, what_was_wrong, where(), remedy);
}

void JsonNode::require(bool holds, const char* wanted) const {
  if (!holds) {
    fail(fmt::format("is {}, not {}", value_->type_name(), wanted));
  }
}

JsonNode JsonNode::at(const std::string& key) const {
  if (auto found = find(key)) {
    return *std::move(found);
  }
  fail(fmt::format("has no member '{}'", key));
}

std::optional<JsonNode> JsonNode::find(const std::string& key) const {
  require(value_->is_object(), "an object");
  const auto found = value_->find(key);
  if (found == value_->end()) {
    return std::nullopt;
  }
  return JsonNode(*found, origin_, pointer_ + "/" + json_pointer_token(key));
}

std::vector<JsonNode> JsonNode::elements() const {
  require(value_->is_array(), "an array");
  std::vector<JsonNode> nodes;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    nodes.emplace_back((*value_)[i], origin_, fmt::format("{}/{}", pointer_, i));
  }
  return nodes;
}

std::vector<JsonNode> JsonNode::elements_of(const std::string& key) const {
  const auto list = find(key);
  return list ? list->elements() : std::vector<JsonNode>();
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  require(value_->is_object(), "an object");
  std::vector<std::pair<std::string, JsonNode>> nodes;
  for (const auto& [key, value] : value_->items()) {
    nodes.emplace_back(key, JsonNode(value, origin_, pointer_ + "/" + json_pointer_token(key)));
  }
  return nodes;
}

std::string JsonNode::text() const {
  require(value_->is_string(), "a string");
  return value_->get<std::string>();
}

std::int64_t JsonNode::integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() ||
                     value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) {
    fail(fmt::format("is {}, not a (64-bit) integer", value_->dump()));
  }
  return value_->get<std::int64_t>();
}

double JsonNode::number() const {
  require(value_->is_number(), "a number");
  return value_->get<double>();
}

bool JsonNode::boolean() const {
  require(value_->is_boolean(), "true or false");
  return value_->get<bool>();
}

JsonFile load_json(const FileTree& tree, std::string_view path, std::string_view schema) {
  return checked(tree.read(path), tree, tree.origin(path), schema);
}

JsonFile load_json_from_disk(const FileTree& tree, const std::filesystem::path& path,
                             std::string_view schema) {
  return checked(read_disk_file(path), tree, path.string(), schema);
}

JsonFile load_json_from_disk(const FileTree& tree, const std::filesystem::path& path,
                             std::span<const std::string_view> schemas) {
  json value = parse_json(read_disk_file(path, kMostOutputBytes), path.string());
  check_schema(value, tree, schema_of_format(value, schemas, path.string()), path.string());
  return {std::move(value), path.string()};
}

}  // namespace fatune

// The schema half of json_file.hpp: the only user of valijson.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using Finding = valijson::ValidationResults::Error;

/// The path from the root to the finding: valijson's context is "<root>", "[key]", "[0]", ...
json::json_pointer pointer_of(const Finding& finding) {
  json::json_pointer pointer;
  for (const std::string& token : finding.context) {
    if (token.size() >= 2 && token.front() == '[' && token.back() == ']') {
      pointer.push_back(token.substr(1, token.size() - 2));
    }
  }
  return pointer;
}

/// The text between the last pair of quotes: the property that valijson says is missing or
/// unwanted.
std::string quoted(const std::string& description) {
  const std::size_t close = description.rfind('\'');
  const std::size_t open = close == std::string::npos || close == 0
                               ? std::string::npos
                               : description.rfind('\'', close - 1);
  return open == std::string::npos ? "" : description.substr(open + 1, close - open - 1);
}

const json& resolve(const json& root, const json& node) {
  const json* at = &node;
  for (int hops = 0; hops < 8 && at->is_object() && at->contains("$ref"); ++hops) {
    at = &root.at(json::json_pointer(at->at("$ref").get<std::string>().substr(1)));
  }
  return *at;
}

const json* step(const json& schema, const std::string& token) {
  if (const auto found = schema.find("properties");
      found != schema.end() && found->contains(token)) {
    return &found->at(token);
  }
  for (const char* rest : {"items", "additionalProperties"}) {
    if (const auto found = schema.find(rest); found != schema.end() && found->is_object()) {
      return &*found;
    }
  }
  return nullptr;
}

/// The schema of the value at `pointer`, or of the nearest container that has one.
const json& schema_at(const json& root, const json::json_pointer& pointer) {
  std::vector<std::string> tokens;
  for (json::json_pointer rest = pointer; !rest.empty(); rest.pop_back()) {
    tokens.push_back(rest.back());
  }
  const json* at = &root;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    const json* next = step(*at, *token);
    if (next == nullptr) {
      break;
    }
    at = &resolve(root, *next);
  }
  return *at;
}

std::string description_of(const json& schema) {
  return schema.value("description", std::string());
}

std::string allowed_values(const json& schema) {
  const auto found = schema.find("enum");
  return found == schema.end() ? "" : " (one of " + found->dump() + ")";
}

/// Throws the error, in fatune's words where valijson's describe its own machinery.
[[noreturn]] void fail(const Finding& finding, const json& value, const json& schema,
                       const std::string& origin) {
  const json::json_pointer pointer = pointer_of(finding);
  const json& here = schema_at(schema, pointer);
  const JsonNode node(value, origin, pointer.to_string());
  const std::string name = quoted(finding.description);
  if (finding.description.starts_with("Missing required property")) {
    node.fail(
        fmt::format("has no member '{}'", name),
        fmt::format("'{}' is needed: {}", name, description_of(schema_at(schema, pointer / name))));
  }
  if (finding.description.starts_with("Object contains a property")) {
    node.fail(fmt::format("has an unknown member '{}'", name),
              "known here: " + joined(here.value("properties", json::object()).items(), ", ",
                                      [](const auto& member) { return member.key(); }));
  }
  std::string shown = value.at(pointer).dump(-1, ' ', false, json::error_handler_t::replace);
  if (shown.size() > 80) {
    shown = shown.substr(0, 77) + "...";
  }
  const bool by_type = finding.description.find("'type'") != std::string::npos;
  node.fail(by_type ? fmt::format("{} is {}, not {}", shown, value.at(pointer).type_name(),
                                  here.value("type", json("of the right type")).dump())
                    : fmt::format("{} is not allowed: {}", shown, finding.description),
            "expected: " + description_of(here) + allowed_values(here));
}

/// The deepest of all findings: the others only say that a container is wrong because of it.
const Finding& most_specific(const valijson::ValidationResults& results) {
  return *std::ranges::max_element(
      results, [](const auto& a, const auto& b) { return a.context.size() < b.context.size(); });
}

}  // namespace

void check_schema(const json& value, const FileTree& tree, std::string_view schema_name,
                  const std::string& origin) {
  const std::string path = fmt::format("configs/schema/{}.schema.json", schema_name);
  const json schema_json = parse_json(tree.read(path), tree.origin(path));
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), schema);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (!validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(value), &results)) {
    if (results.numErrors() == 0) {
      throw Error(ExitCode::bad_file, "does not follow its schema " + path, origin);
    }
    fail(most_specific(results), value, schema_json, origin);
  }
}

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"

namespace fatune {

/// This is deeper than any of our formats, and keeps recursion over values safe.
inline constexpr std::size_t kMostJsonLevels = 64;

/// `key` as part of a JSON pointer (RFC 6901).
[[nodiscard]] std::string json_pointer_token(const std::string& key);

/// Parses JSON from `origin` (a file name, for messages). Error(bad_file) with line and column on a
/// syntax error, a key that appears twice, or more than 64 levels of nesting.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& origin);

/// Checks `value` against configs/schema/<schema>.schema.json (JSON Schema draft 7).
/// Error(bad_file) naming `origin`, the JSON pointer, what is wrong and, from the schema's
/// description, what would be right.
void check_schema(const nlohmann::json& value, const FileTree& tree, std::string_view schema,
                  const std::string& origin);

/// One value within a JSON file, with its place. Every accessor throws Error(bad_file) naming file
/// and JSON pointer if the value is not what is asked for.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, std::string origin, std::string pointer = {});

  [[nodiscard]] JsonNode at(const std::string& key) const;
  [[nodiscard]] std::optional<JsonNode> find(const std::string& key) const;
  [[nodiscard]] std::vector<JsonNode> elements() const;  ///< the elements of an array
  [[nodiscard]] std::vector<JsonNode> elements_of(const std::string& key) const;  ///< none: absent
  [[nodiscard]] std::vector<std::pair<std::string, JsonNode>> members() const;    ///< of an object
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] const nlohmann::json& raw() const { return *value_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] std::string where() const;  ///< "kernels/x/family.json: /parameters/0"

  [[noreturn]] void fail(const std::string& what_was_wrong, const std::string& remedy = {}) const;

 private:
  void require(bool holds, const char* wanted) const;

  const nlohmann::json* value_;
  std::string origin_;
  std::string pointer_;
};

/// A parsed and checked file. Nodes refer to it and must not outlive it.
class JsonFile {
 public:
  JsonFile(nlohmann::json value, std::string origin)
      : value_(std::make_unique<nlohmann::json>(std::move(value))), origin_(std::move(origin)) {}

  [[nodiscard]] JsonNode root() const { return {*value_, origin_}; }
  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  std::unique_ptr<nlohmann::json> value_;
  std::string origin_;
};

/// Reads, parses and checks a file of the tree, or on disk, against a schema (see check_schema).
[[nodiscard]] JsonFile load_json(const FileTree& tree, std::string_view path,
                                 std::string_view schema);
[[nodiscard]] JsonFile load_json_from_disk(const FileTree& tree, const std::filesystem::path& path,
                                           std::string_view schema);

/// Reads an output of fatune that may have one of several formats: its member "format" says which,
/// as "fatune.<schema>". The file may be larger than others, up to 1 GiB.
[[nodiscard]] JsonFile load_json_from_disk(const FileTree& tree, const std::filesystem::path& path,
                                           std::span<const std::string_view> schemas);

}  // namespace fatune

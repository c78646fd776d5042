#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace fatune {

/// Takes a JSON text apart while it is read.
class PieceSink {
 public:
  PieceSink() = default;
  PieceSink(const PieceSink&) = delete;
  PieceSink& operator=(const PieceSink&) = delete;
  virtual ~PieceSink() = default;

  /// A member of the outermost object that is no object or list, as soon as it is read.
  virtual void see_head(const std::string& key, const nlohmann::json& value) = 0;
  /// An object in a list. `path`: the keys from the outermost object to the list
  /// ("problems/ranking" for those in the lists "ranking" of the objects in the list "problems").
  /// True: it has been taken out, and is not in the object that has the list.
  virtual bool take(std::string_view path, nlohmann::json& piece) = 0;
};

/// Gets the events of RapidJSON's reader, builds values of them, and gives a sink its pieces, so
/// that no more than one piece is held at a time. Members of the objects "parameters" and
/// "counters" have an order: they become lists of pairs. Error(bad_file) naming `origin` and the
/// place for a key that appears twice and for more than 64 levels; errors of the sink get the place
/// if they have none.
class JsonPieces {
 public:
  using Json = nlohmann::json;

  JsonPieces(PieceSink& sink, std::string origin) : sink_(sink), origin_(std::move(origin)) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Null() { return add(nullptr); }
  bool Bool(bool value) { return add(value); }
  bool Int(std::int32_t value) { return add(value); }
  bool Uint(std::uint32_t value) { return add(value); }
  bool Int64(std::int64_t value) { return add(value); }
  bool Uint64(std::uint64_t value) { return add(value); }
  bool Double(double value) { return add(value); }
  bool RawNumber(const char* text, std::size_t size, bool /*copy*/) {
    return add(std::string(text, size));
  }
  bool String(const char* text, std::size_t size, bool /*copy*/) {
    return add(std::string(text, size));
  }
  bool StartObject();
  bool Key(const char* text, std::size_t size, bool /*copy*/);
  bool EndObject(std::size_t /*members*/);
  bool StartArray() { return open(Json::array()); }
  bool EndArray(std::size_t /*items*/);
  // NOLINTEND(readability-identifier-naming)

  /// Error(bad_file): what is read is no JSON, for a reason, in a line from 1.
  [[noreturn]] void refuse(const std::string& reason, std::size_t line) const;

  /// What `read` returns; its errors get the place that is being read.
  template <typename Read>
  auto locate(Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      rethrow(error);
    }
  }

  /// The outermost value, without what the sink has taken.
  [[nodiscard]] Json& root() { return root_; }

 private:
  /// An object or a list that has not ended.
  struct Open {
    Json value;
    std::string key{};      ///< of the member that is read
    std::size_t index = 0;  ///< of the item that is read
    bool is_list = false;
    bool has_order = false;
  };

  bool open(Json value);
  bool add(Json value);
  bool is_taken(Json& piece);
  [[nodiscard]] std::string pointer() const;
  [[noreturn]] void rethrow(const Error& error) const;
  [[noreturn]] void fail(const std::string& what) const;

  PieceSink& sink_;
  std::string origin_;
  std::vector<Open> open_;
  Json root_;
};

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "record/record_json.hpp"

namespace fatune {

/// Receives the pieces of a JSON text while it is read.
class PieceSink {
 public:
  PieceSink() = default;
  PieceSink(const PieceSink&) = delete;
  PieceSink& operator=(const PieceSink&) = delete;
  virtual ~PieceSink() = default;

  /// Gets a member of the outermost object that is neither an object nor a list, as soon as it is
  /// read.
  virtual void see_head(const std::string& key, const RecordJson& value) = 0;
  /// Gets an object in a list. `path`: the keys from the outermost object to the list
  /// ("problems/ranking" for objects in the lists "ranking" of the objects in the list "problems").
  /// Returns true if it took the object, which is then left out of the list.
  virtual bool take(std::string_view path, RecordJson& piece) = 0;
};

/// Handles the events of RapidJSON's reader, builds values from them and passes the pieces to a
/// sink. It holds no more than one piece at a time. Error(bad_file) names `origin` and the place if
/// a key appears twice, or there are more than 64 levels or 10,000 members of an object. The place
/// is added to errors of the sink.
class JsonPieces {
 public:
  using Json = RecordJson;

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

  /// Throws Error(bad_file): the text is not JSON. `line` counts from 1.
  [[noreturn]] void refuse(const std::string& reason, std::size_t line) const;

  /// Returns the result of `read`. Its errors get the place that is being read.
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
    std::string key{};      ///< of the member being read
    std::size_t index = 0;  ///< of the item being read
    bool is_list = false;
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

#include "results/json_pieces.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "data/json_file.hpp"

namespace fatune {

bool JsonPieces::open(Json value) {
  if (open_.size() == kMostJsonLevels) {
    fail(fmt::format("is nested more than {} levels deep", kMostJsonLevels));
  }
  open_.push_back({.value = std::move(value)});
  open_.back().is_list = open_.back().value.is_array();
  return true;
}

bool JsonPieces::StartObject() { return open(Json::object()); }

bool JsonPieces::Key(const char* text, std::size_t size, bool /*copy*/) {
  open_.back().key.assign(text, size);
  return true;
}

bool JsonPieces::EndObject(std::size_t /*members*/) {
  Json value = std::move(open_.back().value);
  open_.pop_back();
  if (!open_.empty() && open_.back().is_list && is_taken(value)) {
    ++open_.back().index;
    return true;
  }
  return add(std::move(value));
}

bool JsonPieces::EndArray(std::size_t /*items*/) {
  Json value = std::move(open_.back().value);
  open_.pop_back();
  return add(std::move(value));
}

bool JsonPieces::add(Json value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return true;
  }
  Open& parent = open_.back();
  if (open_.size() == 1 && !parent.is_list && !value.is_structured()) {
    locate([&] { sink_.see_head(parent.key, value); });
  }
  if (parent.is_list) {
    parent.value.push_back(std::move(value));
    ++parent.index;
  } else if (parent.value.size() == kMostRecordMembers) {
    fail(fmt::format("is in an object of more than {} members", kMostRecordMembers));
  } else if (!parent.value.emplace(parent.key, std::move(value)).second) {
    fail("appears twice in one object");
  }
  return true;
}

bool JsonPieces::is_taken(Json& piece) {
  std::string path;
  for (const Open& level : open_) {
    if (!level.is_list) {
      path.append(path.empty() ? "" : "/").append(level.key);
    }
  }
  return locate([&] { return sink_.take(path, piece); });
}

std::string JsonPieces::pointer() const {
  std::string pointer;
  for (const Open& level : open_) {
    pointer += '/' + (level.is_list ? std::to_string(level.index) : json_pointer_token(level.key));
  }
  return pointer.empty() ? "/" : pointer;
}

void JsonPieces::rethrow(const Error& error) const {
  std::string within = error.where();
  std::ranges::replace(within, '.', '/');
  const std::string outer = pointer();
  throw Error(
      error.code(), error.what_was_wrong(),
      fmt::format("{}: {}{}{}", origin_, outer, within.empty() || outer == "/" ? "" : "/", within),
      error.remedy());
}

void JsonPieces::fail(const std::string& what) const {
  throw Error(ExitCode::bad_file, what, fmt::format("{}: {}", origin_, pointer()));
}

void JsonPieces::refuse(const std::string& reason, std::size_t line) const {
  throw Error(ExitCode::bad_file, fmt::format("is not valid JSON: {} (line {})", reason, line),
              fmt::format("{}: {}", origin_, pointer()));
}

}  // namespace fatune

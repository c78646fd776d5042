#pragma once

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "process/protocol.hpp"
#include "record/record_json.hpp"

// Functions that read members of a worker's message. All throw ProtocolError if the member is
// missing or of the wrong type.
namespace fatune {

[[nodiscard]] inline const nlohmann::json& message_member(const Message& message,
                                                          const char* name) {
  const auto found = message.body.find(name);
  if (found == message.body.end()) {
    throw ProtocolError(fmt::format("a message '{}' without '{}'", type_of(message), name));
  }
  return *found;
}

[[noreturn]] inline void fail_member(const Message& message, const char* name,
                                     const std::exception& error) {
  throw ProtocolError(fmt::format("message '{}', '{}': {}", type_of(message), name, error.what()));
}

/// Reads a value of core's types (record_json.hpp).
template <typename Value>
[[nodiscard]] Value record_member(const Message& message, const char* name) {
  try {
    return read_record<Value>(message_member(message, name));
  } catch (const Error& error) {
    fail_member(message, name, error);
  }
}

template <typename Value>
[[nodiscard]] Value plain_member(const Message& message, const char* name) {
  try {
    return message_member(message, name).get<Value>();
  } catch (const nlohmann::json::exception& error) {
    fail_member(message, name, error);
  }
}

}  // namespace fatune

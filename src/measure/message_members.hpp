#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/kernel_code.hpp"
#include "core/members.hpp"
#include "process/protocol.hpp"
#include "record/record_reader.hpp"
#include "record/record_writer.hpp"

// Messages of the worker from the lists of structs' members, and back.
namespace fatune {

struct KernelName {
  std::string kernel;
};
FATUNE_MEMBERS(KernelName, kernel)

/// A message with the members of each value. `data`: its bytes besides JSON.
template <typename... Values>
Message message_of(const char* type, std::vector<char> data, const Values&... values) {
  RecordJson body{{"type", type}};
  (record_writer::add_members(values, body), ...);
  return {std::move(body), std::move(data)};
}

/// Throws ProtocolError, which names the member, if one is missing or of the wrong type.
template <typename Value>
Value read_message(const Message& message) {
  try {
    Value value;
    record_reader::read(message.body, value);
    return value;
  } catch (const Error& error) {
    throw ProtocolError(
        fmt::format("message '{}', '{}': {}", type_of(message), error.where(), error.what()));
  }
}

/// Reads machine code and its kernel's name: all of an artifact that a worker needs.
inline Artifact read_code(const Message& message) {
  Artifact artifact;
  artifact.lowered_name = read_message<KernelName>(message).kernel;
  artifact.cubin = message.blob;
  return artifact;
}

}  // namespace fatune

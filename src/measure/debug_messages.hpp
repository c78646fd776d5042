#pragma once

#include "measure/debug_run.hpp"
#include "process/protocol.hpp"

// The messages "debug" and "debugged" of docs/worker-protocol.md. worker_messages.hpp has the
// others.
namespace fatune {

[[nodiscard]] Message debug_message(const DebugRequest& request);
/// Also throws ProtocolError if the data is not as long as the message says.
[[nodiscard]] DebugRequest read_debug(const Message& message);

[[nodiscard]] Message debugged_message(const DebugRun& run);
/// Also throws ProtocolError if it is not an answer to that request.
[[nodiscard]] DebugRun read_debugged(const Message& message, const DebugRequest& request);

}  // namespace fatune

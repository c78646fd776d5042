#pragma once

#include "compile/nvrtc_compile.hpp"
#include "process/protocol.hpp"

// The messages between fatune and a process that compiles for it: one job, one result. What reads
// them throws ProtocolError if they are not such a message.
namespace fatune {

[[nodiscard]] Message message_of(const CompileJob& job);
[[nodiscard]] CompileJob job_of(const Message& message);

[[nodiscard]] Message message_of(const CompileResult& result);
/// `key`: that of the job.
[[nodiscard]] CompileResult result_of(const Message& message, const std::string& key);

}  // namespace fatune

// RemoteMeasurer::matmul_rate.
#include <fmt/format.h>

#include "core/error.hpp"
#include "measure/remote_measurer.hpp"

namespace fatune {
namespace {

[[noreturn]] void fail_matmul(const std::string& why) {
  throw Error(ExitCode::gpu_failure, "dense products cannot be measured: " + why);
}

}  // namespace

MatmulRate RemoteMeasurer::matmul_rate(const Artifact& kernel) {
  worker_.ensure();
  Conversation& conversation = worker_.conversation();
  conversation.forget_output();
  const AddedSeconds busy = worker_.busy();
  const Reply reply = conversation.ask(matmul_rate_message(kernel), worker_.deadlines().start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    fail_matmul(outcome_summary(death->outcome));
  }
  const auto& message = std::get<Message>(reply);
  try {
    if (type_of(message) == "multiplied") {
      return read_multiplied(message);
    }
    const std::string why = type_of(message) == "failed"
                                ? read_error(message).what()
                                : fmt::format("an answer '{}'", type_of(message));
    conversation.drop();  // its context may be dead
    fail_matmul(why);
  } catch (const ProtocolError& error) {
    fail_matmul(outcome_summary(conversation.nonsense(error.what())));
  }
}

}  // namespace fatune

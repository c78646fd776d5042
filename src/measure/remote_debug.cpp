// RemoteMeasurer::run_for_debug.
#include "measure/remote_measurer.hpp"

namespace fatune {

DebugResult RemoteMeasurer::run_for_debug(const DebugRequest& request) {
  worker_.deadlines().begin_problem(request.problem);
  worker_.ensure();
  Conversation& conversation = worker_.conversation();
  conversation.forget_output();
  return conversation.read_reply(
      conversation.ask(debug_message(request), worker_.deadlines().runs(1)), "debugged",
      [&](const Message& message) { return read_debugged(message, request); });
}

}  // namespace fatune

// RemoteMeasurer::run_for_debug.
#include <utility>

#include "measure/remote_measurer.hpp"

namespace fatune {

DebugResult RemoteMeasurer::run_for_debug(const DebugRequest& request) {
  deadlines_.begin_problem(request.problem);
  ensure_worker();
  worker_->forget_output();
  Reply reply = ask(debug_message(request), deadlines_.runs(1));
  if (auto* death = std::get_if<Death>(&reply)) {
    return std::move(death->outcome);
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) != "debugged") {
    return failure_of(message);
  }
  try {
    return read_debugged(message, request);
  } catch (const ProtocolError& error) {
    return nonsense(error.what());
  }
}

}  // namespace fatune

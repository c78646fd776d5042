#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/outcome.hpp"
#include "measure/protocol.hpp"
#include "measure/worker_process.hpp"

namespace fatune {

/// The worker process has ended, or was ended, in place of an answer: Crashed or TimedOut.
struct Death {
  Outcome outcome;
};
using Reply = std::variant<Message, Death>;

/// Questions to one worker process, and its answers. A worker that dies, hangs or sends nonsense is
/// ended. Precondition of all calls but ended() and was_killed(): not ended().
class Conversation {
 public:
  /// Starts the worker. Throws as WorkerProcess.
  explicit Conversation(const WorkerCommand& command)
      : has_launcher_(!command.launcher.empty()),
        process_(std::make_unique<WorkerProcess>(command)) {}

  [[nodiscard]] bool ended() const noexcept { return process_ == nullptr; }
  /// Whether the worker was ended from outside (WorkerEnd::killed_by_others).
  [[nodiscard]] bool was_killed() const noexcept { return killed_; }

  [[nodiscard]] Reply ask(const Message& request, std::chrono::milliseconds within);
  /// Sends a request without waiting for its answer. Those of earlier ones come first.
  [[nodiscard]] std::optional<Death> tell(const Message& request, std::chrono::milliseconds within);
  /// Waits for an answer: another one to the same question, or that to what was told.
  [[nodiscard]] Reply await(std::chrono::milliseconds within);

  /// Returns what `read` makes of an answer of this type. Another answer is a failure: the
  /// candidate's, if the worker has rejected it, else the worker's.
  template <typename Read>
  [[nodiscard]] auto read_reply(Reply reply, std::string_view type, Read read)
      -> std::variant<std::invoke_result_t<Read, const Message&>, Outcome> {
    if (auto* death = std::get_if<Death>(&reply)) {
      return std::move(death->outcome);
    }
    const auto& message = std::get<Message>(reply);
    if (type_of(message) != type) {
      return failure_of(message);
    }
    try {
      return read(message);
    } catch (const ProtocolError& error) {
      return nonsense(error.what());
    }
  }

  /// Ends the worker because of an answer out of place.
  [[nodiscard]] Outcome unexpected(const Message& message);
  /// Ends the worker because of an answer that cannot be read.
  [[nodiscard]] Outcome nonsense(const std::string& what);
  /// Tells the worker to end, and waits.
  void finish();
  /// Kills the worker, if it has not ended.
  void drop() { process_.reset(); }
  /// What the worker has printed so far is not part of later failures.
  void forget_output() { process_->forget_output(); }

 private:
  [[nodiscard]] Outcome failure_of(const Message& message);
  [[nodiscard]] Death died(const std::string& how, std::chrono::milliseconds grace);
  [[nodiscard]] Death hung(std::chrono::milliseconds within);
  /// `grace`, or longer for a launcher, which writes its report at its end.
  [[nodiscard]] std::chrono::milliseconds patience(std::chrono::milliseconds grace) const;

  bool has_launcher_;
  std::unique_ptr<WorkerProcess> process_;
  bool killed_ = false;
};

}  // namespace fatune

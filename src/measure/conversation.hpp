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
#include "process/protocol.hpp"
#include "process/worker_process.hpp"

namespace fatune {

/// The worker process ended, or was ended, without an answer. The outcome is Crashed or TimedOut.
struct Death {
  Outcome outcome;
};
using Reply = std::variant<Message, Death>;

/// Sends requests to one worker process and receives its answers. A worker that dies, hangs or
/// sends nonsense is ended. Precondition of all calls but ended() and was_killed(): not ended().
class Conversation {
 public:
  /// Starts the worker. Throws what WorkerProcess throws.
  explicit Conversation(const WorkerCommand& command)
      : has_launcher_(!command.launcher.empty()),
        process_(std::make_unique<WorkerProcess>(command)) {}

  [[nodiscard]] bool ended() const noexcept { return process_ == nullptr; }
  /// Whether the worker was ended from outside (WorkerEnd::killed_by_others).
  [[nodiscard]] bool was_killed() const noexcept { return killed_; }

  [[nodiscard]] Reply ask(const Message& request, std::chrono::milliseconds within);
  /// Sends a request without waiting for its answer. Answers to earlier requests come first.
  [[nodiscard]] std::optional<Death> tell(const Message& request, std::chrono::milliseconds within);
  /// Waits for the next answer: another one to the last request, or the one to what tell() sent.
  [[nodiscard]] Reply await(std::chrono::milliseconds within);

  /// Returns the result of `read` for an answer of this type. Any other answer is a failure: the
  /// candidate's if the worker has rejected it, else the worker's.
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

  /// Ends the worker because of an unexpected answer.
  [[nodiscard]] Outcome unexpected(const Message& message);
  /// Ends the worker because of an answer that cannot be read.
  [[nodiscard]] Outcome nonsense(const std::string& what);
  /// Tells the worker to end, and waits.
  void finish();
  /// Kills the worker, if it has not ended.
  void drop() { process_.reset(); }
  /// Excludes what the worker has printed so far from later failures.
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

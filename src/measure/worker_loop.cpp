#include "measure/worker_loop.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "measure/loaded_kernel.hpp"

namespace fatune {
namespace {

class Worker {
 public:
  Worker(Channel& channel, std::unique_ptr<WorkerDevice> device)
      : channel_(channel), device_(std::move(device)) {}

  void greet() { send(ready_message(device_->limits())); }

  /// Answers a request. Returns false if it was the last one.
  bool answer(const Message& request) {
    using Handler = void (Worker::*)(const Message&);
    static const std::map<std::string, Handler> handlers{{"begin_problem", &Worker::begin_problem},
                                                         {"admit", &Worker::admit},
                                                         {"sample", &Worker::sample},
                                                         {"recheck", &Worker::recheck},
                                                         {"count", &Worker::count},
                                                         {"retire", &Worker::retire},
                                                         {"device_rates", &Worker::device_rates},
                                                         {"debug", &Worker::debug}};
    const std::string type = type_of(request);
    if (type == "shutdown") {
      return false;
    }
    const auto handler = handlers.find(type);
    if (handler == handlers.end()) {
      throw ProtocolError(fmt::format("there is no request '{}'", type));
    }
    (this->*handler->second)(request);
    return !gone_ && !lost_ && !measurer().context_lost();
  }

 private:
  void begin_problem(const Message& request) {
    const ProblemStart start = read_begin_problem(request);
    try {
      measurer().begin_problem(start.problem, start.kernels, start.part);
      send(message_of("done", {}));
    } catch (const Error& error) {
      send(error_message("failed", error));
    }
  }

  void admit(const Message& request) {
    const Admission admission =
        measurer().admit(read_message<ForCandidate>(request).id, read_candidate(request));
    send(admission.failure ? rejected_message(*admission.failure, measurer().context_lost())
                           : message_of("admitted", {}, admission));
  }

  // Answers sample by sample, so that a worker that dies has reported all samples but the one in
  // flight.
  void sample(const Message& request) {
    const CandidateId id = read_message<ForCandidate>(request).id;
    const SampleRequest asked = read_message<SampleRequest>(request);
    for (int taken = 0; taken < asked.count && !gone_; ++taken) {
      const Samples one = measurer().sample(id, {1, asked.round + taken, asked.extent});
      if (one.failure) {
        send(rejected_message(*one.failure, measurer().context_lost()));
        return;
      }
      send(message_of("sampled", {},
                      OneSample{one.samples_us.at(0), one.readings.at(0), one.gate_in_use,
                                one.deterministic, one.verification}));
    }
  }

  void recheck(const Message& request) {
    const std::optional<Outcome> failure =
        measurer().recheck(read_message<ForCandidate>(request).id);
    send(failure ? rejected_message(*failure, measurer().context_lost()) : message_of("done", {}));
  }

  void count(const Message& request) {
    try {
      const Counted counted = measurer().count(read_message<ForCandidate>(request).id,
                                               read_message<CountRequest>(request));
      send(counted.failure ? rejected_message(*counted.failure, measurer().context_lost())
                           : message_of("counted", {}, counted));
    } catch (const Error& error) {
      send(error_message("failed", error));
    }
  }

  void retire(const Message& request) {
    measurer().retire(read_message<ForCandidate>(request).id);
    send(message_of("done", {}));
  }

  // After a message of failure, fatune ends the worker.
  void device_rates(const Message& request) {
    try {
      send(message_of("rates", {}, device_->device_rates(read_rates_request(request))));
    } catch (const Error& error) {
      send(error_message("failed", error));
    }
  }

  void debug(const Message& request) {
    try {
      const DebugResult result = device_->run_for_debug(read_debug(request));
      const auto* run = std::get_if<DebugRun>(&result);
      send(run != nullptr ? debugged_message(*run)
                          : rejected_message(std::get<Outcome>(result), false));
    } catch (const gpu::DriverError& error) {
      lost_ = error.sticky();
      send(rejected_message(outcome_of(error), lost_));
    }
  }

  [[nodiscard]] Measurer& measurer() { return device_->measurer(); }

  void send(const Message& message) { gone_ = channel_.send(message) != Exchange::done; }

  Channel& channel_;
  std::unique_ptr<WorkerDevice> device_;
  bool gone_ = false;  // the parent has gone
  bool lost_ = false;  // the GPU context is lost, in a run for debugging
};

std::optional<Worker> open_worker(Channel& channel, const Hello& hello, const OpenDevice& open) {
  try {
    if (hello.protocol != kProtocolVersion) {
      throw Error(ExitCode::gpu_failure,
                  fmt::format("fatune speaks version {} of the worker protocol, the worker {}",
                              hello.protocol, kProtocolVersion));
    }
    return std::optional<Worker>(std::in_place, channel, open(hello));
  } catch (const Error& error) {
    static_cast<void>(channel.send(error_message("refused", error)));
    return std::nullopt;
  }
}

}  // namespace

void serve(Channel& channel, const OpenDevice& open) {
  Message message;
  if (channel.receive(message) != Exchange::done) {
    return;
  }
  if (type_of(message) != "hello") {
    throw ProtocolError("the first message is not 'hello'");
  }
  std::optional<Worker> worker = open_worker(channel, read_hello(message), open);
  if (!worker) {
    return;
  }
  worker->greet();
  while (channel.receive(message) == Exchange::done && worker->answer(message)) {
  }
}

}  // namespace fatune

// A worker whose GPU is a script: README.md beside this file.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "measure/worker_loop.hpp"
#include "measure/worker_process.hpp"

namespace fatune {
namespace {

using Json = nlohmann::json;

Json read_script() {
  const char* const text = std::getenv("FATUNE_FAKE_WORKER");
  return text == nullptr ? Json::object() : Json::parse(text);
}

/// What a fault does to the process itself, if it is one of that kind.
void do_to_process(const std::string& what) {
  std::istringstream words(what);
  std::string action;
  int number = 0;
  words >> action >> number;
  if (action == "exit") {
    std::_Exit(number);
  } else if (action == "signal") {
    ::raise(number);
  } else if (action == "hang") {
    for (;;) {
      ::pause();
    }
  } else if (action == "garbage") {
    constexpr char kGarbage[] = "this is no message at all";
    static_cast<void>(::send(kWorkerDescriptor, kGarbage, sizeof kGarbage, MSG_NOSIGNAL));
    ::pause();
  } else if (action == "print") {
    std::fprintf(stderr, "%s\n", what.substr(6).c_str());
  }
}

class ScriptedMeasurer : public Measurer {
 public:
  ScriptedMeasurer(MeasurePolicy policy, Json script)
      : Measurer(policy), script_(std::move(script)) {}

  std::string fault(const std::string& at, const std::string& label = {}, int taken = 0) {
    for (const Json& fault : script_.value("faults", Json::array())) {
      const bool fits = fault.at("at") == at &&
                        label.find(fault.value("label", "")) != std::string::npos &&
                        taken >= fault.value("after", 0) &&
                        (!fault.value("after_others", false) || admissions_ > 1);
      if (fits) {
        const std::string what = fault.at("do");
        do_to_process(what);
        return what;
      }
    }
    return {};
  }

  void begin_problem(const Problem&, const Artifact&) override {
    labels_.clear();
    fault("begin_problem");
  }

  Admission admit(CandidateId id, const Candidate& candidate) override {
    ++admissions_;
    if (auto failure = failure_of(fault("admit", candidate.label))) {
      return {{}, std::move(failure)};
    }
    labels_[id] = candidate.label;
    taken_[id] = 0;
    return {{"scripted", 1, {}}, std::nullopt};
  }

  Samples sample(CandidateId id, int) override {
    const std::string& label = labels_.at(id);
    if (auto failure = failure_of(fault("sample", label, taken_[id]++))) {
      return {{}, true, std::move(failure)};
    }
    std::normal_distribution<double> noise(1.0, script_.value("noise_percent", 0.0) / 100);
    return {{base_us(label) * noise(random_)}, true, std::nullopt};
  }

  std::optional<Outcome> recheck(CandidateId id) override {
    return failure_of(fault("recheck", labels_.at(id)));
  }

  void retire(CandidateId id) override { labels_.erase(id); }
  [[nodiscard]] bool context_lost() const noexcept override { return lost_; }

 private:
  [[nodiscard]] double base_us(const std::string& label) const {
    const Json times_us = script_.value("us", Json::object());
    for (const auto& [part, us] : times_us.items()) {
      if (label.find(part) != std::string::npos) {
        return us.get<double>();
      }
    }
    return 100.0;
  }

  std::optional<Outcome> failure_of(const std::string& what) {
    if (what == "stray") {
      ErrorStats stats;
      stats.guard_bytes_changed = 2;
      return WrongResult{{"scripted", 1, {stats}}, "wrote 2 bytes outside the output tensor"};
    }
    if (what.starts_with("crash ")) {
      lost_ = true;
      return Crashed{what.substr(6)};
    }
    return std::nullopt;
  }

  Json script_;
  std::map<CandidateId, std::string> labels_;
  std::map<CandidateId, int> taken_;
  std::mt19937 random_{1};
  int admissions_ = 0;
  bool lost_ = false;
};

class ScriptedDevice : public WorkerDevice {
 public:
  explicit ScriptedDevice(const Hello& hello) : measurer_(hello.policy, read_script()) {
    measurer_.fault("hello");
  }
  [[nodiscard]] DeviceLimits limits() const override {
    DeviceLimits limits;
    limits.name = "Scripted GPU";
    limits.arch = {90, 'a'};
    limits.free_memory_bytes = std::int64_t{1} << 37;
    return limits;
  }
  [[nodiscard]] Measurer& measurer() override { return measurer_; }

 private:
  ScriptedMeasurer measurer_;
};

}  // namespace
}  // namespace fatune

int main() {
  using namespace fatune;
  Channel channel{Descriptor(kWorkerDescriptor)};
  if (const Json script = read_script(); script.contains("version")) {
    Message ready = ready_message({"", "", {90, '\0'}});
    ready.body["protocol"] = script["version"];
    static_cast<void>(channel.send(ready));
    return 0;
  }
  serve(channel, [](const Hello& hello) { return std::make_unique<ScriptedDevice>(hello); });
  return 0;
}

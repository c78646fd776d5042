// A worker with a script instead of a GPU (README.md).
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/worker_process.hpp"
#include "measure/memory_plan.hpp"
#include "measure/worker_loop.hpp"

namespace fatune {
namespace {

using Json = nlohmann::json;

Json read_script() {
  const char* const text = std::getenv("FATUNE_FAKE_WORKER");
  return text == nullptr ? Json::object() : Json::parse(text);
}

/// Carries out a fault of the process itself. Other faults have no effect.
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

/// The first of `values` whose name is part of the label, or else `otherwise`.
template <typename Value>
Value by_label(const Json& values, const std::string& label, const Value& otherwise) {
  for (const auto& item : values.items()) {
    if (label.find(item.key()) != std::string::npos) {
      return item.value().template get<Value>();
    }
  }
  return otherwise;
}

/// The scripted times of all candidates.
class Clock {
 public:
  explicit Clock(const Json& script)
      : times_us_(script.value("us", Json::object())),
        slow_ms_(script.value("slow_ms", 0)),
        drift_percent_per_s_(script.value("drift_percent_per_s", 0.0)),
        drift_percent_per_sample_(script.value("drift_percent_per_sample", 0.0)),
        throttles_(script.value("throttle", Json::array())),
        reading_(script.value("reading", false)),
        noise_(script.value("noise_percent", 0.0) / 100),
        random_(script.value("seed", 1U) +
                (script.value("seed_by_process", false) ? static_cast<unsigned>(::getpid()) : 0U)) {
  }

  /// Returns a sample. Really takes the time that the script sets with slow_ms.
  double sample_us(const std::string& label) {
    std::this_thread::sleep_for(std::chrono::milliseconds(slow_ms_));
    ++samples_;
    return base_us(label) * drift() * slowdown() * (1.0 + noise_ * normal_(random_));
  }

  [[nodiscard]] double base_us(const std::string& label) const {
    return by_label(times_us_, label, 100.0);
  }

  /// The reading of the last sample.
  [[nodiscard]] std::optional<GpuReading> reading() const {
    constexpr std::uint32_t kPowerCap = 0x4;
    constexpr std::uint32_t kHwThermalSlowdown = 0x40;
    const Json* const throttle = throttle_now();
    if (throttle == nullptr && !reading_) {
      return std::nullopt;
    }
    return throttle == nullptr ? GpuReading{1980, 350, 45, kPowerCap}
                               : GpuReading{1200, 350, 90, kPowerCap | kHwThermalSlowdown};
  }

 private:
  [[nodiscard]] const Json* throttle_now() const {
    for (const Json& throttle : throttles_) {
      const int after = samples_ - throttle.at("from_sample").get<int>();
      if (after >= 0 && after < throttle.value("count", 1)) {
        return &throttle;
      }
    }
    return nullptr;
  }

  [[nodiscard]] double slowdown() const {
    const Json* const throttle = throttle_now();
    return throttle == nullptr ? 1.0 : 1.0 + throttle->value("slower_percent", 20.0) / 100;
  }

  [[nodiscard]] double drift() const {
    const std::chrono::duration<double> age = std::chrono::steady_clock::now() - start_;
    return 1.0 + (drift_percent_per_s_ * age.count() + drift_percent_per_sample_ * samples_) / 100;
  }

  Json times_us_;
  int slow_ms_;
  double drift_percent_per_s_;
  double drift_percent_per_sample_;
  Json throttles_;
  bool reading_;
  double noise_;  // standard deviation
  std::normal_distribution<double> normal_;
  std::mt19937 random_;
  int samples_ = 0;  // samples of this process so far; 1 at the first
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Writes a line for each event, before fatune learns of it.
class EventLog {
 public:
  explicit EventLog(const Json& script) {
    if (script.contains("log")) {
      file_.open(script["log"].get<std::string>(), std::ios::app);
    }
  }
  void add(const std::string& line) {
    if (file_.is_open()) {
      file_ << line + "\n" << std::flush;
    }
  }

 private:
  std::ofstream file_;
};

class ScriptedMeasurer : public Measurer {
 public:
  ScriptedMeasurer(MeasurePolicy policy, Json script)
      : Measurer(policy), script_(std::move(script)), clock_(script_), log_(script_) {
    log_.add(fmt::format("started {}", ::getpid()));
  }

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

  void begin_problem(const Problem& problem, const Artifact&,
                     const std::optional<Problem>& part) override {
    labels_.clear();
    part_share_ = part ? share_of(*part, problem) : 1.0;
    fault("begin_problem");
  }

  Admission admit(CandidateId id, const CandidateKernel& candidate) override {
    ++admissions_;
    if (auto failure = refusal_of(candidate.label)) {
      return {{}, 0.0, std::move(failure)};
    }
    if (auto failure = failure_of(fault("admit", candidate.label))) {
      return {{}, 0.0, std::move(failure)};
    }
    labels_[id] = candidate.label;
    if (candidate.part_geometry) {
      only_on_part_.insert(id);
    }
    taken_[id] = 0;
    log_.add("admitted " + candidate.label);
    const double share = candidate.part_geometry ? share_on_part(candidate.label) : 1.0;
    return {{"scripted", 1, {}}, share * first_us(candidate.label), std::nullopt};
  }

  Samples sample(CandidateId id, const SampleRequest& request) override {
    const std::string& label = labels_.at(id);
    if (auto failure = failure_of(fault("sample", label, taken_[id]++))) {
      return {{}, {}, true, true, {}, std::move(failure)};
    }
    const bool on_part = request.extent == Extent::part;
    const bool is_alone = std::exchange(last_sampled_, label) == label;
    const double us =
        clock_.sample_us(label) * (on_part ? share_on_part(label) : 1.0) *
        (is_alone ? by_label(script_.value("alone", Json::object()), label, 1.0) : 1.0);
    log_.add(fmt::format("sampled {} {}{}", us, label, on_part ? " on the part" : ""));
    const bool deterministic = !by_label(script_.value("differs", Json::object()), label, false);
    std::optional<Verification> verification;
    if (!on_part && only_on_part_.erase(id) > 0) {
      verification = {"scripted, on the whole", 1, {}};
    }
    return {{us}, {clock_.reading()}, true, deterministic, verification, std::nullopt};
  }

  std::optional<Outcome> recheck(CandidateId id) override {
    return failure_of(fault("recheck", labels_.at(id)));
  }

  Counted count(CandidateId id, const CountRequest& request) override {
    const std::string& label = labels_.at(id);
    const std::string what = fault("count", label);
    if (what.starts_with("refuse ")) {
      throw Error(ExitCode::gpu_failure, what.substr(7), {}, "do what the script says");
    }
    if (auto failure = failure_of(what)) {
      return {{}, std::move(failure)};
    }
    log_.add(fmt::format("counted {} {}", request.runs, label));
    const Json counts = by_label(script_.value("counts", Json::object()), label, Json::object());
    std::map<std::string, double> run;
    for (const std::string& metric : request.metrics) {
      if (counts.contains(metric)) {
        run[metric] = counts[metric].get<double>();
      }
    }
    return {{static_cast<std::size_t>(request.runs), run}, std::nullopt};
  }

  void retire(CandidateId id) override { labels_.erase(id); }
  [[nodiscard]] bool context_lost() const noexcept override { return lost_; }

  DeviceRates device_rates() {
    const std::string what = fault("device_rates");
    if (what.starts_with("refuse ")) {
      throw Error(ExitCode::gpu_failure, what.substr(7));
    }
    log_.add("rates");
    return {{script_.value("matmul_tflops", 800.0), script_.value("matmul_mhz", 1900.0)},
            MemoryRate{script_.value("read_gb_per_s", 3000.0)}};
  }

  DebugResult run_for_debug(const DebugRequest& request) {
    if (auto failure = failure_of(fault("debug", request.label))) {
      return *std::move(failure);
    }
    const auto dump = request.dump ? request.dump->values(request.problem.d_head) : 0;
    return DebugRun{std::vector<std::uint16_t>(request.q.size()),
                    std::vector<float>(static_cast<std::size_t>(dump))};
  }

 private:
  /// The time on the part relative to the whole problem. The member `part` scales the part's share.
  [[nodiscard]] double share_on_part(const std::string& label) const {
    return part_share_ * by_label(script_.value("part", Json::object()), label, 1.0);
  }

  [[nodiscard]] double first_us(const std::string& label) const {
    return by_label(script_.value("first_us", Json::object()), label, clock_.base_us(label));
  }

  /// The outcome that the members `wrong` and `unlaunchable` set.
  [[nodiscard]] std::optional<Outcome> refusal_of(const std::string& label) const {
    const auto text = [&](const char* member) {
      return by_label(script_.value(member, Json::object()), label, std::string());
    };
    if (const std::string finding = text("wrong"); !finding.empty()) {
      return WrongResult{{"scripted", 1, {}}, finding};
    }
    if (const std::string limit = text("unlaunchable"); !limit.empty()) {
      return Unlaunchable{limit};
    }
    return std::nullopt;
  }

  std::optional<Outcome> failure_of(const std::string& what) {
    if (what == "stray") {
      ErrorStats stats;
      stats.guard_bytes_changed = 2;
      return WrongResult{{"scripted", 1, {stats}}, "wrote 2 bytes outside the output tensor"};
    }
    if (what.starts_with("wrong ")) {
      return WrongResult{{"scripted", 1, {}}, what.substr(6)};
    }
    if (what.starts_with("crash ")) {
      lost_ = true;
      return Crashed{what.substr(6)};
    }
    return std::nullopt;
  }

  Json script_;
  Clock clock_;
  EventLog log_;
  std::map<CandidateId, std::string> labels_;
  std::map<CandidateId, int> taken_;
  std::set<CandidateId> only_on_part_;
  std::string last_sampled_;  // label
  int admissions_ = 0;
  double part_share_ = 1.0;
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
    limits.sm_count = read_script().value("sm_count", 0);
    limits.clock_khz = limits.sm_count > 0 ? 1980000 : 0;
    limits.free_memory_bytes = std::int64_t{1} << 37;
    return limits;
  }
  [[nodiscard]] Measurer& measurer() override { return measurer_; }
  [[nodiscard]] DeviceRates device_rates(const Artifact&) override {
    return measurer_.device_rates();
  }
  [[nodiscard]] DebugResult run_for_debug(const DebugRequest& request) override {
    return measurer_.run_for_debug(request);
  }

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

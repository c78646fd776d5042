#include "unit/engine/scripted_measurer.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "base/error.hpp"

namespace fatune {
namespace {

constexpr std::uint32_t kPowerCap = 0x4;
constexpr std::uint32_t kThermalSlowdown = 0x40;

double normal(int number) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number));
  return std::normal_distribution<double>()(random);
}

}  // namespace

Admission ScriptedMeasurer::admit(CandidateId id, const CandidateKernel& kernel) {
  const std::string& label = kernel.label;
  calls.push_back("admit " + label);
  if (parts_[label].refusal) {
    return {{}, 0.0, parts_[label].refusal};
  }
  labels_[id] = label;
  if (kernel.part_geometry) {
    on_part_.insert(id);
  }
  const double share = kernel.part_geometry ? kPartShare : 1.0;
  Admission admission{{"scripted " + label, 1, {}}, share * parts_[label].us, std::nullopt};
  if (clock_moves) {
    admission.reading = GpuReading{1980, 350, 45, kPowerCap};
  }
  return admission;
}

/// The clock of the sample of that number, which is this candidate's.
double ScriptedMeasurer::sm_mhz(const std::string& label, int number) {
  in_a_row_ = std::exchange(last_, label) == label ? in_a_row_ + 1 : 0;
  const double alone_mhz = parts_.at(label).alone_mhz;
  return in_a_row_ >= kLaunchesToSettle && alone_mhz > 0.0 ? alone_mhz
         : clock_moves                                     ? 1980 - 15 * (number * number % 7)
                                                           : 1980;
}

Samples ScriptedMeasurer::sample(CandidateId id, const SampleRequest& request) {
  const std::string& label = labels_.at(id);
  const Part& part = parts_.at(label);
  Samples samples;
  samples.gate_in_use = gate;
  const bool on_part = request.extent == Extent::part;
  if (!on_part && on_part_.erase(id) > 0) {
    samples.verification = Verification{"the whole of " + label, 1, {}};
  }
  for (int i = 0; i < request.count; ++i) {
    calls.push_back("sample " + label + (on_part ? " on the part" : ""));
    rounds.push_back(request.round + i);
    if (taken_[label]++ == part.samples_until_crash) {
      samples.failure = Crashed{"scripted"};
      return samples;
    }
    samples.deterministic =
        part.differs_from_sample < 0 || taken_[label] <= part.differs_from_sample;
    const int number = next_sample++;
    const bool slow = throttled.count(number) > 0;
    const double mhz = sm_mhz(label, number);
    samples.samples_us.push_back(part.us * (on_part ? kPartShare : 1.0) * (slow ? 2.0 : 1.0) *
                                 (1.0 + noise * normal(number)) * 1980 / mhz);
    samples.readings.push_back(
        slow ? std::optional(GpuReading{1200, 300, 90, kPowerCap | kThermalSlowdown})
        : readings || clock_moves
            ? std::optional(GpuReading{mhz, 350, 45, at_power_cap ? kPowerCap : 0})
            : std::nullopt);
  }
  return samples;
}

std::optional<Outcome> ScriptedMeasurer::recheck(CandidateId id) {
  const std::string& label = labels_.at(id);
  calls.push_back("recheck " + label);
  return parts_.at(label).wrong_at_recheck
             ? std::optional<Outcome>(WrongResult{{"scripted", 1, {}}, "in the end"})
             : std::nullopt;
}

Counted ScriptedMeasurer::count(CandidateId id, const CountRequest& request) {
  const std::string& label = labels_.at(id);
  calls.push_back("count " + label);
  if (!no_counters.empty()) {
    throw Error(ExitCode::gpu_failure, no_counters);
  }
  if (label == crashes_when_counted) {
    return {{}, Crashed{"scripted"}};
  }
  std::map<std::string, double> run;
  for (const std::string& metric : request.metrics) {
    run[metric] = 1000.0;
  }
  return {{static_cast<std::size_t>(request.runs), run}, std::nullopt};
}

int ScriptedMeasurer::call_count(const std::string& what) const {
  return static_cast<int>(std::count_if(calls.begin(), calls.end(), [&](const std::string& call) {
    return call.starts_with(what + " ");
  }));
}

CandidateKernel scripted_kernel(const std::string& label) {
  auto artifact = std::make_shared<Artifact>();
  artifact->key = "key of " + label;
  CandidateKernel kernel;
  kernel.label = label;
  kernel.artifact = std::move(artifact);
  kernel.geometry.grid = {7, 1, 1};
  return kernel;
}

}  // namespace fatune

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "measure/measurer.hpp"

namespace fatune {

/// A measurer with scripted candidates. The noise of a sample depends only on its number, so that a
/// measurer that begins at `next_sample` continues where another one stopped.
class ScriptedMeasurer : public Measurer {
 public:
  struct Part {
    double us = 100.0;
    std::optional<Outcome> refusal;  ///< at its admission
    int samples_until_crash = -1;    ///< negative: it never crashes
    bool wrong_at_recheck = false;
    int differs_from_sample = -1;  ///< negative: it is deterministic
    /// The SM clock once it has run alone for kLaunchesToSettle launches. 0: that of other samples.
    double alone_mhz = 0.0;
  };

  ScriptedMeasurer(const MeasurePolicy& policy, std::map<std::string, Part> parts)
      : Measurer(policy), parts_(std::move(parts)) {}

  void begin_problem(const Problem&, const Artifact&, const std::optional<Problem>&) override {}
  [[nodiscard]] Admission admit(CandidateId id, const CandidateKernel& kernel) override;
  [[nodiscard]] Samples sample(CandidateId id, const SampleRequest& request) override;
  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) override;
  [[nodiscard]] Counted count(CandidateId id, const CountRequest& request) override;
  void retire(CandidateId id) override { labels_.erase(id); }
  [[nodiscard]] bool context_lost() const noexcept override { return false; }

  /// The ratio of a candidate's time on the part of the problem to that on the whole.
  static constexpr double kPartShare = 0.25;

  static constexpr int kLaunchesToSettle = 20;

  /// The number of calls of this kind so far: "admit", "sample", "recheck" or "count".
  [[nodiscard]] int call_count(const std::string& what) const;

  std::map<std::string, Part> parts_;
  std::vector<std::string> calls;  ///< "admit A", "sample A", "sample A on the part", "recheck A"
  std::vector<int> rounds;         ///< the requested round of each sample
  int next_sample = 1;
  double noise = 0.003;      ///< relative standard deviation
  std::set<int> throttled;   ///< numbers of samples that take twice as long and report it
  bool readings = false;     ///< the other samples also have a reading
  bool at_power_cap = true;  ///< the readings say so
  /// The clock differs between samples by up to 3 %, and times and readings follow it.
  bool clock_moves = false;
  bool gate = true;
  std::string no_counters;           ///< why they cannot be read; empty: each metric is 1000
  std::string crashes_when_counted;  ///< label

 private:
  [[nodiscard]] double sm_mhz(const std::string& label, int number);

  std::map<CandidateId, std::string> labels_;
  std::set<CandidateId> on_part_;  ///< admitted on the part, and not yet sampled on the whole
  std::map<std::string, int> taken_;
  std::string last_;  ///< the label of the last sample
  int in_a_row_ = 0;  ///< samples of that label since one of another
};

/// A candidate with an artifact of its own.
[[nodiscard]] CandidateKernel scripted_kernel(const std::string& label);

}  // namespace fatune

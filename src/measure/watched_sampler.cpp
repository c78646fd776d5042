#include "measure/watched_sampler.hpp"

#include <fmt/format.h>

#include <string>

namespace fatune {
namespace {

bool same(const InputSum& a, const InputSum& b) { return a.plain == b.plain && a.mixed == b.mixed; }

std::size_t slot(int set) { return static_cast<std::size_t>(set); }

std::size_t slot(Extent extent) { return static_cast<std::size_t>(extent); }

WrongResult after_timing(OutputVerdict verdict) {
  return {std::move(verdict.verification), "after timing: " + *verdict.finding};
}

std::string name_sample(const SampledKernel& kernel, int set) {
  return fmt::format("sample {}{}", kernel.samples + 1,
                     kernel.right.at(slot(set))
                         ? ": its output differs from the verified one of the same inputs"
                         : ", its first on these inputs");
}

}  // namespace

bool WatchedSampler::others_ran_unchecked(CandidateId id, int set) const {
  const std::set<CandidateId>& ran = unchecked_.at(slot(set));
  return ran.size() > ran.count(id);
}

const KernelLaunch& WatchedSampler::about_to_run(SampledKernel& kernel, int set) {
  last_run_ = {kernel.id, set};
  for (std::set<CandidateId>& ran : unchecked_) {
    ran.insert(kernel.id);
  }
  std::optional<KernelLaunch>& launch = kernel.launches.at(slot(set));
  if (!launch) {
    launch.emplace(kernel.make_launch(verifier_.normal(set), extent_of(set)));
  }
  return *launch;
}

void WatchedSampler::queue_fingerprint(const Stage& stage) {
  gpu::fill_words_async(device_sum_.address(), 0, device_sum_.bytes() / 4, stream_);
  stage.queue_fingerprint(device_sum_.as<InputSum>());
  gpu::copy_to_host_async(host_sum_.host(), device_sum_.address(), device_sum_.bytes(), stream_);
}

TimedRun WatchedSampler::run(SampledKernel& kernel, int set) {
  const Stage& stage = verifier_.normal(set);
  const KernelLaunch& launch = about_to_run(kernel, set);
  return timer_.take_sample(
      launch, {[&] { stage.poison_output(launch.buffers()); }, [&] { queue_fingerprint(stage); }});
}

OutputVerdict WatchedSampler::check(int set) {
  const std::set<CandidateId> ran = std::exchange(unchecked_.at(slot(set)), {});
  OutputVerdict verdict = verifier_.check(verifier_.normal(set));
  if (verdict.damaged) {
    last_run_.reset();
    suspects_.insert(ran.begin(), ran.end());
  }
  return verdict;
}

OutputVerdict WatchedSampler::first_sample(SampledKernel& kernel, int set, TimedRun& sample) {
  sample = run(kernel, set);
  kernel.right.at(slot(set)) = *host_sum_.host_as<const InputSum>();
  kernel.right_on_whole = extent_of(set) == Extent::whole;
  kernel.sights.at(slot(extent_of(set))).add(set % kInputSets, sample.us);
  return check(set);
}

// Judges the run of the last fingerprint. `again`: others may have made it wrong, and the damage
// has been repaired, so the run is to be repeated.
std::optional<WrongResult> WatchedSampler::judge(SampledKernel& kernel, int set, bool& again) {
  const InputSum output = *host_sum_.host_as<const InputSum>();
  std::optional<InputSum>& right = kernel.right.at(slot(set));
  again = false;
  if (right && same(*right, output)) {
    return std::nullopt;
  }
  const bool others_ran = others_ran_unchecked(kernel.id, set);
  OutputVerdict verdict = check(set);
  if (!verdict.finding) {
    kernel.deterministic = kernel.deterministic && !right;
    right = right.value_or(output);
    if (extent_of(set) == Extent::whole && !std::exchange(kernel.right_on_whole, true)) {
      kernel.verification = std::move(verdict.verification);
    }
    return std::nullopt;
  }
  again = verdict.damaged && others_ran;
  return WrongResult{std::move(verdict.verification),
                     fmt::format("{}: {}", name_sample(kernel, set), *verdict.finding)};
}

std::optional<Outcome> WatchedSampler::sample(SampledKernel& kernel, int set, TimedRun& sample) {
  for (bool again = true; again;) {
    sample = run(kernel, set);
    std::optional<WrongResult> wrong = judge(kernel, set, again);
    if (wrong && !again) {
      return *std::move(wrong);
    }
  }
  ++kernel.samples;
  return judge_time(kernel, set, sample.us);
}

std::optional<Outcome> WatchedSampler::judge_time(SampledKernel& kernel, int set,
                                                  double sample_us) {
  if (std::optional<Implausible> implausible =
          find_implausible(sample_us, least_.at(slot(extent_of(set))))) {
    return *std::move(implausible);
  }
  FirstSights& sights = kernel.sights.at(slot(extent_of(set)));
  sights.add(set % kInputSets, sample_us);
  if (sights.suspicious()) {
    if (std::optional<Implausible> remembers = find_memory(kernel, set)) {
      return *std::move(remembers);
    }
    sights.clear();
  }
  return std::nullopt;
}

// Runs the candidate on inputs that it cannot have seen, and again on the same ones. The outputs
// are not checked, because there are no references for them.
std::optional<Implausible> WatchedSampler::find_memory(SampledKernel& kernel, int set) {
  constexpr int kAttempts = 2;
  const Stage& stage = verifier_.normal(set);
  std::optional<Implausible> found;
  for (int attempt = 1; attempt <= kAttempts && (found || attempt == 1); ++attempt) {
    stage.fill_afresh(attempt);
    const double fresh_us = run(kernel, set).us;
    const double again_us = run(kernel, set).us;
    found.reset();
    if (fresh_us > kRememberingRatio * again_us) {
      found = Implausible{again_us, fresh_us,
                          fmt::format("it takes {:.3g} us on inputs that it has not seen: it "
                                      "remembers its answers",
                                      fresh_us)};
    }
  }
  stage.restore();
  last_run_.reset();
  return found;
}

// Finds damage that only this candidate can have done. If others may have done it, check() makes
// all of them suspects.
std::optional<WrongResult> WatchedSampler::find_own_damage(const SampledKernel& kernel) {
  for (int set = 0; set < verifier_.set_count(); ++set) {
    if (unchecked_.at(slot(set)).empty()) {
      continue;
    }
    const bool others_ran = others_ran_unchecked(kernel.id, set);
    OutputVerdict verdict = check(set);
    if (verdict.damaged && !others_ran) {
      return after_timing(std::move(verdict));
    }
  }
  return std::nullopt;
}

std::optional<Outcome> WatchedSampler::recheck(SampledKernel& kernel) {
  if (std::optional<WrongResult> damage = find_own_damage(kernel)) {
    return *std::move(damage);
  }
  if (kernel.deterministic && suspects_.count(kernel.id) == 0) {
    return std::nullopt;
  }
  return run_and_check(kernel);
}

std::optional<Outcome> WatchedSampler::run_and_check(SampledKernel& kernel) {
  for (;;) {
    if (!last_run_ || last_run_->first != kernel.id) {
      const KernelLaunch& launch = about_to_run(kernel);
      verifier_.normal(0).poison_output(launch.buffers());
      launch.queue(stream_);
    }
    const int set = last_run_->second;
    const bool others_ran = others_ran_unchecked(kernel.id, set);
    OutputVerdict last = check(set);
    if (!last.finding) {
      return std::nullopt;
    }
    if (!last.damaged || !others_ran) {
      return after_timing(std::move(last));
    }
  }
}

void WatchedSampler::forget(CandidateId id) {
  suspects_.erase(id);
  if (last_run_ && last_run_->first == id) {
    last_run_.reset();
  }
}

}  // namespace fatune

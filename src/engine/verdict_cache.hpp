#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/task_pool.hpp"
#include "gpu/cubin_cache.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"
#include "proof/small_emulation.hpp"

namespace fatune {

/// The verdict of emulation on one configuration.
struct EmulationVerdict {
  Verification verification;  ///< has no inputs if it could not be emulated
  /// WrongResult or Flagged. Empty: it is right, or could not be emulated.
  std::optional<Outcome> failure;
  std::string not_covered;  ///< the reason why it could not be emulated; empty: it was
  std::optional<CountedSamples> work = std::nullopt;  ///< a right kernel's work; absent: unknown
};

/// Verdicts of emulation, kept in the folder of the cubin cache. Entries are checksummed. One that
/// is damaged, or of another key, counts as absent and is replaced.
class VerdictCache {
 public:
  /// `folder` must outlive this; null: nothing is kept.
  explicit VerdictCache(CacheFolder* folder) : folder_(folder) {}

  /// `key`: 64 hexadecimal digits, a hash of everything that the verdict depends on.
  [[nodiscard]] std::optional<EmulationVerdict> find(const std::string& key);
  /// Keeps a verdict, unless the configuration could not be emulated.
  void store(const std::string& key, const EmulationVerdict& verdict);

 private:
  CacheFolder* folder_;
};

/// The setup of an EmulatingVerifier.
struct EmulationSetup {
  int jobs = 1;
  std::uint64_t seed = 1;  ///< seeds inputs and schedules
  /// Keeps machine code and verdicts. May be null; must outlive the verifier.
  CubinCache* cache = nullptr;
  /// Is told of each verdict and the seconds of CPU time that it took. Any thread may call it.
  std::function<void(double)> on_verdict = [](double) {};
};

/// Verifies configurations by running their PTX on the CPU, on small problems (docs/emulate.md) and
/// on several threads. Code that was emulated on the same small problem is not emulated again. All
/// functions must be called from one thread.
class EmulatingVerifier {
 public:
  /// `families` must outlive the verifier.
  EmulatingVerifier(const FamilySet& families, DeviceLimits limits, const EmulationSetup& setup);

  /// Begins the verification, and returns the key of the verdict on this code for this problem.
  /// Precondition: `artifact` has its PTX.
  [[nodiscard]] std::string begin(const Config& config, const Problem& problem,
                                  std::shared_ptr<const Artifact> artifact);
  /// The verdict for a key that begin() returned. Empty: not known yet.
  [[nodiscard]] std::optional<EmulationVerdict> verdict(const std::string& key);
  /// Waits for the next verdict, at most for `within`.
  void wait(std::chrono::milliseconds within) { pool_.wait(within); }
  /// Drops the work that has not begun.
  void stop() { pool_.drop(); }

 private:
  [[nodiscard]] std::string key_of(const Config& config, const Problem& problem,
                                   const Artifact& artifact) const;
  [[nodiscard]] EmulationVerdict emulate(const Config& config, const Problem& problem,
                                         const Artifact& artifact);
  [[nodiscard]] EmulationVerdict judge(const SmallEmulation& emulated) const;

  const FamilySet& families_;
  DeviceLimits limits_;
  EmulationSetup setup_;
  EmulationSettings settings_;
  EmulatedInputs inputs_;
  VerdictCache kept_;
  std::mutex mutex_;
  std::map<std::string, std::optional<EmulationVerdict>> verdicts_;
  TaskPool pool_;  ///< must be last: its tasks use the other members
};

}  // namespace fatune

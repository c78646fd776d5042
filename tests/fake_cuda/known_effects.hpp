#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "emulator/launch.hpp"

namespace fake_cuda {

using Contents = std::vector<std::vector<std::uint8_t>>;  ///< the contents of buffers

/// Everything that determines a launch's effect on the emulator.
struct Cause {
  std::array<std::array<unsigned, 3>, 3> extents{};  ///< grid, block, cluster
  unsigned smem_bytes = 0;
  std::vector<std::uint8_t> parameters;
  Contents memory;
  fatune::emulate::ModuleState variables;

  bool operator==(const Cause&) const = default;
};

/// The effect of a launch.
struct Effect {
  Contents memory;
  fatune::emulate::ModuleState variables;
  CUresult error = CUDA_SUCCESS;
};

/// The effects of a kernel's last launches. Samples repeat a launch on the same memory, and need
/// not be emulated again.
class KnownEffects {
 public:
  /// Returns null if the effect is not known.
  [[nodiscard]] const Effect* find(const Cause& cause) const {
    for (const auto& [known, effect] : known_) {
      if (known == cause) {
        return &effect;
      }
    }
    return nullptr;
  }

  const Effect& add(Cause cause, Effect effect) {
    if (known_.size() == kMost) {
      known_.pop_front();
    }
    return known_.emplace_back(std::move(cause), std::move(effect)).second;
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::deque<std::pair<Cause, Effect>> known_;
};

}  // namespace fake_cuda

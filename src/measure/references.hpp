#pragma once

#include <array>
#include <cstdint>

#include "core/problem.hpp"
#include "gpu/memory.hpp"
#include "measure/input_kind.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// Device memory of the reference rows of every input kind, and of the rows' positions. Computed
/// once per problem, compared with every candidate's output.
class References {
 public:
  /// Chooses the rows (row_sample.hpp) and uploads their positions; waits for the stream.
  References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream);

  [[nodiscard]] RowSelection selection() const;
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }  ///< of one kind
  [[nodiscard]] float* exact(InputKind kind) const;
  [[nodiscard]] void* rounded(InputKind kind) const;

 private:
  std::int64_t rows_per_head_ = 0;
  std::int64_t elements_ = 0;
  gpu::DeviceBuffer rows_;
  std::array<gpu::DeviceBuffer, kInputKinds.size()> exact_;
  std::array<gpu::DeviceBuffer, kInputKinds.size()> rounded_;
};

}  // namespace fatune

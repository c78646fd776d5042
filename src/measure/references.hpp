#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "gpu/memory.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The reference rows of one kind of input, and the rows' positions, in device memory. They are
/// computed once per problem and compared with every candidate's output.
class References {
 public:
  /// Chooses the rows (row_sample.hpp) and uploads their positions; waits for the stream.
  References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream);

  [[nodiscard]] RowSelection selection() const;
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
  [[nodiscard]] float* exact() const { return exact_.as<float>(); }
  [[nodiscard]] void* rounded() const { return rounded_.as<void>(); }

 private:
  std::int64_t rows_per_head_ = 0;
  std::int64_t elements_ = 0;
  gpu::DeviceBuffer rows_;
  gpu::DeviceBuffer exact_;
  gpu::DeviceBuffer rounded_;
};

}  // namespace fatune

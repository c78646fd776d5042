#include "emulate/async/warpgroup_products.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "emulate/async/async_copies.hpp"
#include "emulate/async/matrix_descriptor.hpp"
#include "emulate/async/watched_registers.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/values/half.hpp"
#include "emulate/values/matrix_product.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kWarpRows = 16;
constexpr std::uint32_t kDepth = 16;  // k extent of an instruction
constexpr std::uint32_t kChunk = 8;   // elements
constexpr std::uint32_t kChunkBytes = 16;

/// A chunk of an operand: 8 elements, along k or along the rows.
struct Chunk {
  std::uint32_t address = 0;
  std::uint32_t row = 0;  ///< the first element's row
  std::uint32_t k = 0;
};

/// Calls `work` for each chunk of rows [first, first + count) of a matrix in shared memory.
template <typename Work>
void for_each_chunk(const MatrixDescriptor& matrix, bool mn_major, std::uint32_t first,
                    std::uint32_t count, const Work& work) {
  if (mn_major) {
    for (std::uint32_t k = 0; k < kDepth; ++k) {
      for (std::uint32_t row = first; row < first + count; row += kChunk) {
        work(Chunk{matrix.mn_major_chunk(row / kChunk, k), row - first, k});
      }
    }
    return;
  }
  for (std::uint32_t row = first; row < first + count; ++row) {
    for (std::uint32_t k = 0; k < kDepth; k += kChunk) {
      work(Chunk{matrix.k_major_chunk(row, k / kChunk), row - first, k});
    }
  }
}

const Instruction& instruction_of(const Execution& x, const AsyncProduct& product) {
  return x.program.instructions[product.instruction];
}

std::uint32_t first_row(const Warp& warp) {
  return static_cast<std::uint32_t>(warp.index) % kWarpgroup * kWarpRows;
}

template <typename Work>
void for_each_source(const Warp& warp, const ProductShape& shape, const AsyncProduct& product,
                     const Work& work) {
  if (!shape.a_in_registers) {
    for_each_chunk(MatrixDescriptor::of(product.a), shape.a_is_mn_major, first_row(warp), kWarpRows,
                   work);
  }
  for_each_chunk(MatrixDescriptor::of(product.b), shape.b_is_mn_major, 0, shape.columns, work);
}

/// The bits of a matrix in shared memory, as [row][k]. Elements outside shared memory are zero.
std::vector<std::uint16_t> read_matrix(Execution& x, const Warp& warp,
                                       const MatrixDescriptor& matrix, bool mn_major,
                                       std::uint32_t first, std::uint32_t rows) {
  std::vector<std::uint16_t> elements(std::size_t{rows} * kDepth);
  SharedMemory& shared = x.block_of(warp).shared;
  for_each_chunk(matrix, mn_major, first, rows, [&](const Chunk& chunk) {
    const std::uint64_t offset = std::uint64_t{chunk.address} - kSharedBase;
    if (!shared.holds(offset, kChunkBytes)) {
      return;
    }
    std::array<std::uint16_t, kChunk> bits{};
    std::memcpy(bits.data(), shared.data(static_cast<std::uint32_t>(offset)), kChunkBytes);
    for (std::uint32_t i = 0; i < kChunk; ++i) {
      const std::size_t row = chunk.row + (mn_major ? i : 0);
      const std::size_t k = chunk.k + (mn_major ? 0 : i);
      elements[row * kDepth + k] = bits[i];
    }
  });
  return elements;
}

// --- Fragments: laid out as in mma.m16n8k16, for eight columns of D at a time ---

/// The place of an element in a tile. Lane (g = lane / 4, t = lane % 4) has rows g and g + 8,
/// columns 2 t and 2 t + 1.
constexpr std::size_t place_of(std::size_t lane, std::size_t index) {
  return (lane / 4 + index / 2 * 8) * kProductColumns + lane % 4 * 2 + index % 2;
}

constexpr std::uint16_t half_of(std::uint32_t pair, std::size_t index) {
  return static_cast<std::uint16_t>(pair >> (16 * index));
}

using BitsA = std::array<std::uint16_t, kProductRows * kProductDepth>;
using BitsB = std::array<std::uint16_t, kProductDepth * kProductColumns>;

BitsA a_from_registers(const Execution& x, const Warp& warp, const Instruction& instruction,
                       const ProductShape& shape) {
  BitsA a{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto* pairs = x.lanes<std::uint32_t>(warp, instruction.operands[shape.a_operand() + i]);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t row = lane / 4 + i % 2 * 8;
      const std::size_t k = lane % 4 * 2 + i / 2 * 8;
      a[row * kProductDepth + k] = half_of(pairs[lane], 0);
      a[row * kProductDepth + k + 1] = half_of(pairs[lane], 1);
    }
  }
  return a;
}

BitsA a_from_shared(Execution& x, const Warp& warp, const ProductShape& shape,
                    std::uint64_t descriptor) {
  const std::vector<std::uint16_t> elements = read_matrix(
      x, warp, MatrixDescriptor::of(descriptor), shape.a_is_mn_major, first_row(warp), kWarpRows);
  BitsA a{};
  std::copy(elements.begin(), elements.end(), a.begin());
  return a;
}

FactorsA factors_a(Execution& x, const Warp& warp, const Instruction& instruction,
                   const ProductShape& shape, std::uint64_t descriptor) {
  BitsA bits = shape.a_in_registers ? a_from_registers(x, warp, instruction, shape)
                                    : a_from_shared(x, warp, shape, descriptor);
  if (shape.negates) {
    std::ranges::for_each(bits, [](std::uint16_t& element) { element ^= 0x8000U; });
  }
  FactorsA a;
  set_factors(shape.factor(), bits, a);
  return a;
}

/// The sums of eight columns of D, in registers.
class Sums {
 public:
  Sums(const Execution& x, const Warp& warp, const Instruction& instruction, bool half,
       std::uint32_t first_column)
      : x_(x), warp_(warp), instruction_(instruction), half_(half), slab_(first_column / 8) {}

  [[nodiscard]] Accumulators read() const {
    Accumulators c{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        c[place_of(lane, i)] =
            half_ ? from_half(half_of(lanes(i / 2)[lane], i % 2)) : from_raw<float>(lanes(i)[lane]);
      }
    }
    return c;
  }

  void write(const Accumulators& c) const {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t i = 0; i < 4; ++i) {
        const float value = c[place_of(lane, i)];
        if (!half_) {
          lanes(i)[lane] = to_raw<float>(value);
          continue;
        }
        const std::uint32_t shift = 16 * (i % 2);
        std::uint32_t& pair = lanes(i / 2)[lane];
        pair = (pair & ~(0xffffU << shift)) | std::uint32_t{to_half(value)} << shift;
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t* lanes(std::size_t index) const {
    return x_.lanes<std::uint32_t>(warp_, instruction_.operands[slab_ * (half_ ? 2 : 4) + index]);
  }

  const Execution& x_;
  const Warp& warp_;
  const Instruction& instruction_;
  bool half_;
  std::size_t slab_;
};

/// Columns [first, first + 8) of B. `columns` is laid out as [column][k].
FactorsB factors_b(const ProductShape& shape, const std::vector<std::uint16_t>& columns,
                   std::uint32_t first) {
  BitsB bits{};
  for (std::size_t k = 0; k < kProductDepth; ++k) {
    for (std::size_t column = 0; column < kProductColumns; ++column) {
      bits[k * kProductColumns + column] = columns[(first + column) * kDepth + k];
    }
  }
  FactorsB b;
  set_factors(shape.factor(), bits, b);
  return b;
}

void multiply(Execution& x, Warp& warp, const AsyncProduct& product) {
  const Instruction& instruction = instruction_of(x, product);
  const auto shape = instruction.details_as<ProductShape>();
  const FactorsA a = factors_a(x, warp, instruction, shape, product.a);
  const std::vector<std::uint16_t> columns =
      read_matrix(x, warp, MatrixDescriptor::of(product.b), shape.b_is_mn_major, 0, shape.columns);
  for (std::uint32_t first = 0; first < shape.columns; first += 8) {
    const FactorsB b = factors_b(shape, columns, first);
    const Sums sums(x, warp, instruction, shape.half_sums, first);
    Accumulators c = product.accumulates ? sums.read() : Accumulators{};
    multiply_add(shape.half_sums ? Accumulator::f16 : Accumulator::f32, a, b, c);
    sums.write(c);
  }
}

/// Lands the first `count` products, in order: one may accumulate into the sums of the one before.
void land_up_to(Execution& x, Warp& warp, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    AsyncProduct& product = warp.products[i];
    if (!product.landed) {
      product.landed = true;
      multiply(x, warp, product);
    }
  }
}

bool check_descriptor(Execution& x, const Warp& warp, const Instruction& instruction,
                      const MatrixDescriptor& matrix, const char* name) {
  if (matrix.is_aligned()) {
    return true;
  }
  x.report(FindingKind::misaligned, warp, instruction, 0, [&] {
    return fmt::format(
        "the swizzled panel of {} begins at shared address {:#x}, where the swizzle's pattern, "
        "which repeats every {} bytes, does not begin (base offset {})",
        name, matrix.start, matrix.repeat_bytes(), matrix.base_offset);
  });
  return false;
}

void note_reads(Execution& x, Warp& warp, const Instruction& instruction, const ProductShape& shape,
                const AsyncProduct& product) {
  const Actor by{x, warp, instruction, 0};
  SharedMemory& shared = x.block_of(warp).shared;
  for_each_source(warp, shape, product, [&](const Chunk& chunk) {
    const SharedPlace place =
        check_shared(by, {Space::shared, chunk.address, kChunkBytes, kChunkBytes});
    if (!place || !x.setup.checks.race) {
      return;
    }
    report_shared(
        by, shared.begin_async_read(by.accessor(), warp.clock.fenced, place.offset, kChunkBytes),
        kMultipliesShared);
  });
}

/// Attributes the product's reads to the multiplier from now on.
void end_reads(Execution& x, const Warp& warp, const AsyncProduct& product) {
  const auto shape = instruction_of(x, product).details_as<ProductShape>();
  SharedMemory& shared = x.block_of(warp).shared;
  VectorClock clock;
  clock.set(x.multiplier(warp), product.number + 1);
  const Accessor who{x.multiplier(warp), 0, &clock, &instruction_of(x, product)};
  for_each_source(warp, shape, product, [&](const Chunk& chunk) {
    const std::uint64_t offset = std::uint64_t{chunk.address} - kSharedBase;
    if (shared.holds(offset, kChunkBytes)) {
      shared.end_async_read(who, static_cast<std::uint32_t>(offset), kChunkBytes);
    }
  });
}

/// The warps of a warp's warpgroup, including itself.
std::span<Warp> warpgroup_of(Execution& x, const Warp& warp) {
  const std::span<Warp> all = x.warps_of(x.block_of(warp));
  const std::size_t first = static_cast<std::size_t>(warp.index) / kWarpgroup * kWarpgroup;
  return all.subspan(first, std::min(kWarpgroup, all.size() - first));
}

/// The number of products that the warp waits for, counted from its first one.
std::uint32_t awaited(const Warp& warp, std::uint32_t pending) {
  // Products are sorted by group.
  const auto left = std::ranges::find_if(warp.products, [&](const AsyncProduct& product) {
    return product.group + pending >= warp.products_committed;
  });
  return left == warp.products.end() ? warp.products_issued : left->number;
}

/// Completes the warp's products numbered below `end`. Returns how many of warp.products they are.
std::size_t complete(Execution& x, Warp& warp, std::uint32_t end) {
  const auto left = std::ranges::find_if(
      warp.products, [&](const AsyncProduct& product) { return product.number >= end; });
  const auto count = static_cast<std::size_t>(left - warp.products.begin());
  land_up_to(x, warp, count);
  for (std::size_t i = 0; x.setup.checks.race && i < count; ++i) {
    if (AsyncProduct& product = warp.products[i]; !product.has_read) {
      product.has_read = true;
      end_reads(x, warp, product);
    }
  }
  return count;
}

}  // namespace

void issue_product(Execution& x, Warp& warp, const Instruction& instruction) {
  const auto shape = instruction.details_as<ProductShape>();
  const Operand* const operands = instruction.operands;
  const auto descriptor = [&](std::uint32_t operand) {
    return x.lanes<std::uint64_t>(warp, operands[operand])[0];
  };
  AsyncProduct product;
  product.instruction = static_cast<std::uint32_t>(x.index_of(instruction));
  product.a = shape.a_in_registers ? 0 : descriptor(shape.a_operand());
  product.b = descriptor(shape.b_operand());
  product.accumulates = (condition_of(warp, operands[shape.b_operand() + 1]) & 1U) != 0;
  product.group = warp.products_committed;
  product.number = warp.products_issued++;
  const bool a_fits = shape.a_in_registers ||
                      check_descriptor(x, warp, instruction, MatrixDescriptor::of(product.a), "A");
  if (!check_descriptor(x, warp, instruction, MatrixDescriptor::of(product.b), "B") || !a_fits) {
    x.end_by_trap();
    return;
  }
  trace_product(x, warp, instruction, product);
  note_reads(x, warp, instruction, shape, product);
  warp.products.push_back(product);
  watch_issued(x, warp, product);
  if (lands_at_issue(x)) {
    land_up_to(x, warp, warp.products.size());
  }
}

bool products_are_issued(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const std::uint32_t end = awaited(warp, instruction.variant);
  const std::span<Warp> group = warpgroup_of(x, warp);
  return std::ranges::all_of(
      group, [&](const Warp& other) { return other.alive == 0 || other.products_issued >= end; });
}

void await_products(Execution& x, Warp& warp, std::uint32_t pending) {
  const std::uint32_t end = awaited(warp, pending);
  std::size_t count = 0;
  for (Warp& other : warpgroup_of(x, warp)) {
    const std::size_t completed = complete(x, other, end);
    count = &other == &warp ? completed : count;
    warp.clock.seen.raise(Epoch(end, x.multiplier(other), 0));
  }
  warp.products.erase(warp.products.begin(),
                      warp.products.begin() + static_cast<std::ptrdiff_t>(count));
  watch_pending(x, warp);
}

void land_some_products(Execution& x, Warp& warp) {
  if (!warp.products.empty()) {
    land_up_to(x, warp, x.random() % (warp.products.size() + 1));
  }
}

void report_pending_products(Execution& x, const Warp& warp) {
  trace_end(x, warp);
  if (warp.alive == 0 && !warp.products.empty()) {
    x.report(FindingKind::pending_at_exit, warp, instruction_of(x, warp.products.front()), 0, [&] {
      return fmt::format("the warp ends without waiting for {} products", warp.products.size());
    });
  }
}

}  // namespace fatune::emulate

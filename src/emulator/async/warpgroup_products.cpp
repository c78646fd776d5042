#include "emulator/async/warpgroup_products.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "emulator/async/copies.hpp"
#include "emulator/async/warpgroup_checks.hpp"
#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

// --- Matrix descriptors: PTX ISA 9.0, section 9.7.15.5.1 ---

constexpr std::uint32_t kDescriptorUnitBytes = 16;
constexpr std::uint32_t kCoreRows = 8;  // rows of a core matrix

constexpr std::uint32_t field(std::uint64_t bits, std::uint32_t first, std::uint32_t count) {
  return static_cast<std::uint32_t>(bits >> first & ((std::uint64_t{1} << count) - 1));
}

/// The address and layout of a matrix in shared memory. Its "rows" are M for A and N for B.
struct MatrixDescriptor {
  std::uint32_t start = 0;          ///< address
  std::uint32_t leading_bytes = 0;  ///< leading dimension byte offset
  std::uint32_t stride_bytes = 0;   ///< stride dimension byte offset
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::none;

  [[nodiscard]] static MatrixDescriptor of(std::uint64_t bits) {
    constexpr std::array kSwizzles{Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64,
                                   Swizzle::bytes_32};
    MatrixDescriptor descriptor;
    descriptor.start = field(bits, 0, 14) * kDescriptorUnitBytes;
    descriptor.leading_bytes = field(bits, 16, 14) * kDescriptorUnitBytes;
    descriptor.stride_bytes = field(bits, 32, 14) * kDescriptorUnitBytes;
    descriptor.base_offset = field(bits, 49, 3);
    descriptor.swizzle = kSwizzles[field(bits, 62, 2)];
    return descriptor;
  }

  /// The bytes after which the swizzle's permutation repeats; 16 without a swizzle.
  [[nodiscard]] std::uint32_t repeat_bytes() const {
    return swizzle == Swizzle::none ? kDescriptorUnitBytes : kCoreRows * row_bytes();
  }

  /// True if the swizzle's pattern begins where the rows do. Otherwise rows are read with another
  /// permutation than they were written with.
  [[nodiscard]] bool is_aligned() const {
    // The start may be anywhere within a row, but it must be in the first of eight rows.
    return base_offset == 0 && start % repeat_bytes() < row_bytes();
  }

  /// The address of a 16-byte chunk. K-major: bytes 16 chunk to 16 chunk + 15 of a row.
  [[nodiscard]] std::uint32_t k_major_chunk(std::uint32_t row, std::uint32_t chunk) const {
    const std::uint32_t group = start + row / kCoreRows * stride_bytes;
    if (swizzle == Swizzle::none) {
      return group + row % kCoreRows * kDescriptorUnitBytes + chunk * leading_bytes;
    }
    return swizzled(group + row % kCoreRows * row_bytes() + chunk * kDescriptorUnitBytes, swizzle);
  }

  /// The address of a 16-byte chunk. MN-major, which only 16-bit elements can be: rows 8 chunk to
  /// 8 chunk + 7 at one k.
  [[nodiscard]] std::uint32_t mn_major_chunk(std::uint32_t chunk, std::uint32_t k) const {
    if (swizzle == Swizzle::none) {
      return start + chunk * stride_bytes + k / kCoreRows * leading_bytes +
             k % kCoreRows * kDescriptorUnitBytes;
    }
    const std::uint32_t chunks = row_bytes() / kDescriptorUnitBytes;
    return swizzled(start + chunk / chunks * leading_bytes + chunk % chunks * kDescriptorUnitBytes +
                        k / kCoreRows * stride_bytes + k % kCoreRows * row_bytes(),
                    swizzle);
  }

 private:
  /// The bytes of a swizzled row: 32, 64 or 128; without a swizzle, the 16 bytes of one chunk.
  [[nodiscard]] std::uint32_t row_bytes() const {
    constexpr std::array<std::uint32_t, 4> kRowBytes{kDescriptorUnitBytes, 32, 64, 128};
    return kRowBytes[static_cast<std::size_t>(swizzle)];
  }
};

constexpr std::uint32_t kWarpRows = 16;
constexpr std::uint32_t kRowBytes = 32;  // k extent of an instruction, for every type
constexpr std::uint32_t kChunkBytes = 16;
constexpr std::uint32_t kHalfBytes = 2;                         // MN-major elements have 16 bits
constexpr std::uint32_t kChunkRows = kChunkBytes / kHalfBytes;  // of an MN-major chunk

/// A chunk of an operand: 16 bytes of a row, or elements of 8 rows at one k.
struct Chunk {
  std::uint32_t address = 0;
  std::uint32_t row = 0;   ///< the first element's
  std::uint32_t byte = 0;  ///< the place of the first element in its row
};

/// Calls `work` for each chunk of rows [first, first + count) of a matrix in shared memory.
template <typename Work>
void for_each_chunk(const MatrixDescriptor& matrix, bool mn_major, std::uint32_t first,
                    std::uint32_t count, const Work& work) {
  if (mn_major) {
    for (std::uint32_t k = 0; k < kRowBytes / kHalfBytes; ++k) {
      for (std::uint32_t row = first; row < first + count; row += kChunkRows) {
        work(Chunk{matrix.mn_major_chunk(row / kChunkRows, k), row - first, k * kHalfBytes});
      }
    }
    return;
  }
  for (std::uint32_t row = first; row < first + count; ++row) {
    for (std::uint32_t byte = 0; byte < kRowBytes; byte += kChunkBytes) {
      work(Chunk{matrix.k_major_chunk(row, byte / kChunkBytes), row - first, byte});
    }
  }
}

/// The warp that has issued a product.
Actor issue_of(Execution& x, Warp& warp, const AsyncProduct& product) {
  return {x, warp, x.program.instructions[product.instruction], 0};
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

/// Copies a chunk from shared memory to rows of kRowBytes.
void copy_chunk(const Chunk& chunk, bool mn_major, const std::uint8_t* from, std::uint8_t* rows) {
  std::uint8_t* const to = rows + std::size_t{chunk.row} * kRowBytes + chunk.byte;
  if (!mn_major) {
    std::memcpy(to, from, kChunkBytes);
    return;
  }
  for (std::size_t i = 0; i < kChunkRows; ++i) {
    std::memcpy(to + i * kRowBytes, from + i * kHalfBytes, kHalfBytes);
  }
}

/// Rows of a matrix in shared memory, kRowBytes each. Elements outside shared memory are zero.
std::vector<std::uint8_t> read_matrix(const Executing& at, const MatrixDescriptor& matrix,
                                      bool mn_major, std::uint32_t first, std::uint32_t rows) {
  std::vector<std::uint8_t> bytes(std::size_t{rows} * kRowBytes);
  SharedMemory& shared = at.block().shared;
  for_each_chunk(matrix, mn_major, first, rows, [&](const Chunk& chunk) {
    const std::uint64_t offset = std::uint64_t{chunk.address} - kSharedBase;
    if (shared.holds(offset, kChunkBytes)) {
      copy_chunk(chunk, mn_major, shared.data(static_cast<std::uint32_t>(offset)), bytes.data());
    }
  });
  return bytes;
}

/// Rows [first, first + kRows) of those that were read.
template <std::size_t kRows>
Words<kRows> words_from(const std::vector<std::uint8_t>& rows, std::size_t first) {
  Words<kRows> words;
  static_assert(sizeof(words) == kRows * kRowBytes);
  std::memcpy(words.data(), rows.data() + first * kRowBytes, sizeof(words));
  return words;
}

// --- Products. Registers are laid out as in mma with rows of 32 bytes, for eight columns of D at a
// time ---

Words<16> rows_of_a(const Executing& at, const ProductShape& shape, std::uint64_t descriptor) {
  if (shape.a_in_registers) {
    return words_of<16>([&](std::size_t i) { return at.words(shape.a_operand() + i); }, 4);
  }
  return words_from<16>(read_matrix(at, MatrixDescriptor::of(descriptor), shape.a_is_mn_major,
                                    first_row(at.warp), kWarpRows),
                        0);
}

/// A in parts.
std::vector<FactorsA> factors_a(const Executing& at, const ProductShape& shape,
                                std::uint64_t descriptor) {
  const Words<16> rows = rows_of_a(at, shape, descriptor);
  std::vector<FactorsA> parts(parts_of(shape.a));
  for (std::size_t part = 0; part < parts.size(); ++part) {
    parts[part] = factors_of_rows(shape.a, rows, part, shape.a);
    if (shape.negates) {
      std::ranges::for_each(parts[part].values, [](float& value) { value = -value; });
    }
  }
  return parts;
}

Summation summation_of(const ProductShape& shape) {
  return is_fp8(shape.a)
             ? kFp8Summation
             : Summation{.accumulator = shape.half_sums ? Accumulator::f16 : Accumulator::f32};
}

void multiply(Execution& x, Warp& warp, const AsyncProduct& product) {
  const Executing at = issue_of(x, warp, product);
  const auto shape = at.instruction.details_as<ProductShape>();
  const Summation summation = summation_of(shape);
  const std::vector<FactorsA> a = factors_a(at, shape, product.a);
  std::vector<FactorsB> b(parts_of(shape.b));
  const std::vector<std::uint8_t> columns =
      read_matrix(at, MatrixDescriptor::of(product.b), shape.b_is_mn_major, 0, shape.columns);
  for (std::uint32_t first = 0; first < shape.columns; first += 8) {
    const auto sums = [&](std::size_t i) {
      return at.words(first / 8 * (shape.half_sums ? 2 : 4) + i);
    };
    Accumulators c = !product.accumulates ? Accumulators{}
                     : shape.half_sums    ? half_accumulators(sums)
                                          : accumulators<float>(sums);
    for (std::size_t part = 0; part < b.size(); ++part) {
      b[part] = factors_of_columns(shape.b, words_from<8>(columns, first), part, shape.b);
    }
    multiply_add(summation, a, b, c);
    shape.half_sums ? set_half_accumulators(c, sums) : set_accumulators(c, sums);
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

bool check_descriptor(const Step& step, std::uint64_t descriptor, const char* name) {
  const MatrixDescriptor matrix = MatrixDescriptor::of(descriptor);
  if (matrix.is_aligned()) {
    return true;
  }
  step.report(FindingKind::misaligned, 0, [&] {
    return fmt::format(
        "the swizzled panel of {} begins at shared address {:#x}, where the swizzle's pattern, "
        "which repeats every {} bytes, does not begin (base offset {})",
        name, matrix.start, matrix.repeat_bytes(), matrix.base_offset);
  });
  return false;
}

void note_reads(const Actor& by, const ProductShape& shape, const AsyncProduct& product) {
  for_each_source(by.warp, shape, product, [&](const Chunk& chunk) {
    const SharedPlace place =
        check_shared(by, {Space::shared, chunk.address, kChunkBytes, kChunkBytes});
    if (place && by.x.setup.checks.race) {
      report_shared(by,
                    place.block->shared.begin_async_read(by.accessor(), by.warp.clock.fenced,
                                                         place.offset, kChunkBytes),
                    kMultipliesShared);
    }
  });
}

/// Attributes the product's reads to the multiplier from now on.
void end_reads(Execution& x, Warp& warp, const AsyncProduct& product) {
  const Actor by = issue_of(x, warp, product);
  VectorClock clock;
  clock.set(x.multiplier(warp), product.number + 1);
  const Accessor who{x.multiplier(warp), 0, &clock, &by.instruction};
  SharedMemory& shared = by.block().shared;
  for_each_source(warp, by.instruction.details_as<ProductShape>(), product,
                  [&](const Chunk& chunk) {
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

void issue_product(const Step& step) {
  const auto shape = step.instruction.details_as<ProductShape>();
  Execution& x = step.x;
  Warp& warp = step.warp;
  AsyncProduct product;
  product.instruction = static_cast<std::uint32_t>(step.index());
  product.a = shape.a_in_registers ? 0 : step.wide_words(shape.a_operand())[0];
  product.b = step.wide_words(shape.b_operand())[0];
  product.accumulates = (step.condition(shape.b_operand() + 1) & 1U) != 0;
  product.group = warp.products_committed;
  product.number = warp.products_issued++;
  const bool a_fits = shape.a_in_registers || check_descriptor(step, product.a, "A");
  if (!check_descriptor(step, product.b, "B") || !a_fits) {
    x.end_by_trap();
    return;
  }
  trace_product(step, product);
  note_reads(step.by(0), shape, product);
  warp.products.push_back(product);
  watch_issued(x, warp, product);
  if (lands_at_issue(x)) {
    land_up_to(x, warp, warp.products.size());
  }
}

bool products_are_issued(const Step& step) {
  const std::uint32_t end = awaited(step.warp, step.instruction.variant);
  return std::ranges::all_of(warpgroup_of(step.x, step.warp), [&](const Warp& other) {
    return other.alive == 0 || other.products_issued >= end;
  });
}

void await_products(const Step& step) {
  Warp& warp = step.warp;
  const std::uint32_t end = awaited(warp, step.instruction.variant);
  std::size_t count = 0;
  for (Warp& other : warpgroup_of(step.x, warp)) {
    const std::size_t completed = complete(step.x, other, end);
    count = &other == &warp ? completed : count;
    warp.clock.seen.raise(Epoch(end, step.x.multiplier(other), 0));
  }
  warp.products.erase(warp.products.begin(),
                      warp.products.begin() + static_cast<std::ptrdiff_t>(count));
  watch_pending(step.x, warp);
}

void land_some_products(Execution& x, Warp& warp) {
  if (!warp.products.empty()) {
    land_up_to(x, warp, x.random() % (warp.products.size() + 1));
  }
}

void report_pending_products(Execution& x, Warp& warp) {
  trace_end(x, warp);
  if (warp.alive == 0 && !warp.products.empty()) {
    issue_of(x, warp, warp.products.front()).report(FindingKind::pending_at_exit, [&] {
      return fmt::format("the warp ends without waiting for {} products", warp.products.size());
    });
  }
}

}  // namespace fatune::emulate

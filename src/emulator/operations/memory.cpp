#include <array>
#include <cstdint>
#include <cstring>

#include "base/text_parts.hpp"
#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/matrix_product.hpp"

// ld, st, ldmatrix and stmatrix: PTX ISA 9.0, sections 9.7.9 and 9.7.14.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;
using Addresses = std::array<std::uint64_t, kLanes>;

// --- Accesses of a warp's lanes to shared memory that are all valid, except perhaps for races.
// This is a fast way to do what memory_access.hpp does lane by lane ---

/// True if these accesses, of `bytes` (a power of two) each, are aligned and in bounds. If not, use
/// read_memory or write_memory, which report what is wrong.
bool all_in_shared(const Step& step, const Addresses& addresses, std::uint32_t bytes) {
  const std::size_t room = step.block().shared.size();
  if (bytes > room) {
    return false;
  }
  bool inside = true;
  step.for_each([&](int lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    inside &= (address & (bytes - 1)) == 0 && address - kSharedBase <= room - bytes;
  });
  return inside;
}

/// Calls `move(lane, bytes)`, which reads or writes the bytes, for each lane. Precondition:
/// all_in_shared.
template <bool kReads, typename Move>
void access_shared_lanes(const Step& step, const Addresses& addresses, std::uint32_t bytes,
                         Move move) {
  Block& block = step.block();
  SharedMemory& shared = block.shared;
  const bool checks = step.x.setup.checks.race;
  step.for_each([&](int lane) {
    const Actor by = step.by(lane);
    const auto offset =
        static_cast<std::uint32_t>(addresses[static_cast<std::size_t>(lane)]) - kSharedBase;
    if (!kReads && !keeps_mbarriers(by, {&block, offset}, bytes)) {
      return;
    }
    move(lane, shared.data(offset));
    if (checks) {
      report_shared(by,
                    kReads ? shared.note_read(by.accessor(), offset, bytes)
                           : shared.note_write(by.accessor(), offset, bytes),
                    kReads ? kReadsShared : kWritesShared);
    }
  });
}

/// Moves the bytes of each lane between memory and registers.
template <bool kReads, typename Move>
void access_lanes(const Step& step, Space space, const Addresses& addresses, std::uint32_t bytes,
                  Move move) {
  constexpr std::uint32_t kMostLaneBytes = 32;
  if (space == Space::shared && all_in_shared(step, addresses, bytes)) {
    return access_shared_lanes<kReads>(step, addresses, bytes, move);
  }
  std::array<std::uint8_t, kMostLaneBytes> buffer{};
  step.for_each([&](int lane) {
    const Access access{space, addresses[static_cast<std::size_t>(lane)], bytes, bytes};
    if constexpr (kReads) {
      read_memory(step.by(lane), access, buffer.data());
    }
    move(lane, buffer.data());
    if constexpr (!kReads) {
      write_memory(step.by(lane), access, buffer.data());
    }
  });
}

/// The details of a load or a store.
struct Shape {
  Space space = Space::generic;
  std::uint8_t element_bytes = 4;
  std::uint8_t count = 1;
  bool sign_extends = false;
  bool wide = false;  ///< the registers have 64 bits
  MemoryOrder order;  ///< the order of strong accesses

  [[nodiscard]] std::uint32_t bytes() const { return std::uint32_t{element_bytes} * count; }
};

/// The lanes' addresses. The operand at `base` is the register; the next one is the offset.
Addresses addresses_of(const Step& step, std::size_t base) {
  const std::uint64_t offset = step.wide_words(base + 1)[0];
  Addresses addresses;
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[static_cast<std::size_t>(lane)] =
        offset + step.value(base, lane, step.operand(base).wide);
  }
  return addresses;
}

/// Calls `work` with a zero of the type of an element.
template <typename Work>
auto with_element(std::uint32_t size, Work work) {
  switch (size) {
    case 1:
      return work(std::uint8_t{});
    case 2:
      return work(std::uint16_t{});
    case 4:
      return work(std::uint32_t{});
    default:
      return work(std::uint64_t{});
  }
}

std::uint64_t element_at(const std::uint8_t* bytes, const Shape& shape) {
  const std::uint64_t value = with_element(shape.element_bytes, [&](auto element) {
    std::memcpy(&element, bytes, sizeof(element));
    return std::uint64_t{element};
  });
  const std::uint32_t unused = 64 - 8U * shape.element_bytes;
  return shape.sign_extends
             ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused)
             : value;
}

void set_element(std::uint64_t value, const Shape& shape, std::uint8_t* bytes) {
  with_element(shape.element_bytes, [&](auto element) {
    element = static_cast<decltype(element)>(value);
    std::memcpy(bytes, &element, sizeof(element));
  });
}

void load(const Step& step) {
  const auto shape = step.instruction.details_as<Shape>();
  const Addresses addresses = addresses_of(step, shape.count);
  count_access(step, shape.space, addresses, step.mask, shape.bytes());
  access_lanes<true>(
      step, shape.space, addresses, shape.bytes(), [&](int lane, const std::uint8_t* bytes) {
        for (std::uint32_t i = 0; i < shape.count; ++i) {
          step.set_value(i, lane, shape.wide,
                         element_at(bytes + std::size_t{i} * shape.element_bytes, shape));
        }
      });
}

void store(const Step& step) {
  const auto shape = step.instruction.details_as<Shape>();
  const Addresses addresses = addresses_of(step, 0);
  count_access(step, shape.space, addresses, step.mask, shape.bytes());
  ++step.x.launch.changes;
  access_lanes<false>(step, shape.space, addresses, shape.bytes(),
                      [&](int lane, std::uint8_t* bytes) {
                        for (std::uint32_t i = 0; i < shape.count; ++i) {
                          set_element(step.value(2 + i, lane, shape.wide), shape,
                                      bytes + std::size_t{i} * shape.element_bytes);
                        }
                      });
}

/// A strong load or store. The lanes access memory one after another.
template <Handler kAccess, bool kLoads>
void strong(const Step& step) {
  const auto shape = step.instruction.details_as<Shape>();
  const Addresses addresses = addresses_of(step, kLoads ? shape.count : 0);
  count_access(step, shape.space, addresses, step.mask, shape.bytes());
  const InstructionCounts counted = step.counts();
  PollDigest digest(step.index(), step.mask);
  step.for_each([&](int lane) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    StrongAccess access(step, {shape.space, address, shape.bytes(), shape.bytes()}, shape.order);
    Step one = step;
    one.mask = lane_bit(lane);
    kAccess(one);
    kLoads ? access.reads() : access.writes();
    digest.add(address);
    for (std::uint32_t i = 0; kLoads && i < shape.count; ++i) {
      digest.add(step.value(i, lane, shape.wide));
    }
  });
  step.counts() = counted;  // the lanes' accesses count as one
  if (kLoads) {
    step.note_poll(digest, addresses[static_cast<std::size_t>(step.first())]);
  }
}

Space space_of(const Decoder& d) {
  if (d.has("global") || d.has("const")) return Space::global;
  if (d.has("shared::cluster")) return Space::shared_cluster;
  if (d.has("shared")) return Space::shared;
  if (d.has("local")) return Space::local;
  return Space::generic;
}

/// The space of a parameter. Parameters of calls that the kernel makes are in local memory.
Space parameter_space(const Decoder& d, std::size_t address) {
  std::string_view name = d.operand(address);
  name = trim(name.substr(name.starts_with('[') ? 1 : 0));
  return d.names.find_call_parameter(trim(name.substr(0, name.find_first_of("+]"))))
             ? Space::local
             : Space::parameter;
}

template <bool kLoads>
void decode_access(Decoder& d) {
  const std::size_t registers = kLoads ? 0 : 1;
  const std::size_t address = kLoads ? 1 : 0;
  d.unsupported_if(d.has("v8"), "this form");
  Shape shape;
  shape.element_bytes = static_cast<std::uint8_t>(size_of(d.type()));
  d.unsupported_if(shape.element_bytes == 0 || shape.element_bytes > 8, "this type");
  shape.space = d.has("param") ? parameter_space(d, address) : space_of(d);
  shape.count = d.has("v4") ? 4 : d.has("v2") ? 2 : 1;
  shape.sign_extends = is_signed(d.type());
  shape.wide = shape.element_bytes == 8 || d.is_wide(registers);
  shape.order = order_of(d);
  const ScalarType type = shape.wide ? b64 : d.type();
  const bool is_strong =
      d.one_of({"volatile", "relaxed", "acquire", "release", "mmio"}).has_value();
  if constexpr (kLoads) {
    d.handle(is_strong ? &strong<&load, true> : &load).to_all(registers, type, shape.count);
    d.at(address);
  } else {
    d.handle(is_strong ? &strong<&store, false> : &store).at(address);
    d.from_all(registers, type, shape.count);
  }
  d.result.set_details(shape);
}

// --- Matrices of 8 rows of 16 bytes. Lanes 8 j to 8 j + 7 have the row addresses of matrix j ---

constexpr std::uint32_t kMatrixRowBytes = 16;
constexpr std::size_t kMatrixBytes = std::size_t{8} * kMatrixRowBytes;

/// The rows of all matrices, indexed by the lane that has a row's address. The register of a matrix
/// that is not transposed holds the same bytes: lane 4 r + i has the i-th 4 bytes of row r.
using MatrixRows = std::array<std::array<std::uint16_t, 8>, kLanes>;

/// The details of ldmatrix and stmatrix.
struct Matrices {
  std::uint32_t count = 1;
  bool transposed = false;
  bool generic = false;  ///< the addresses are generic
};

/// Moves the rows between shared memory and `rows`. Generic addresses of other spaces end up far
/// outside shared memory.
template <bool kReads>
void access_rows(const Step& step, const Matrices& matrices, std::size_t base, MatrixRows& rows) {
  Step of_rows = step;
  of_rows.mask = matrices.count == 4 ? kAllLanes : (Mask{1} << (8 * matrices.count)) - 1;
  Addresses addresses = addresses_of(step, base);
  for (std::uint64_t& address : addresses) {
    address -= matrices.generic ? kSharedWindow : 0;
  }
  count_access(step, Space::shared, addresses, of_rows.mask, kMatrixRowBytes);
  access_lanes<kReads>(of_rows, Space::shared, addresses, kMatrixRowBytes,
                       [&](int lane, auto* bytes) {
                         auto* const row = rows[static_cast<std::size_t>(lane)].data();
                         kReads ? std::memcpy(row, bytes, kMatrixRowBytes)
                                : std::memcpy(bytes, row, kMatrixRowBytes);
                       });
}

void load_matrices(const Step& step) {
  const auto matrices = step.instruction.details_as<Matrices>();
  MatrixRows rows;
  access_rows<true>(step, matrices, matrices.count, rows);
  for (std::size_t i = 0; i < matrices.count; ++i) {
    if (matrices.transposed) {
      transpose_8x8(rows[8 * i].data());
    }
    std::memcpy(step.words(i), &rows[8 * i], kMatrixBytes);
  }
}

void store_matrices(const Step& step) {
  const auto matrices = step.instruction.details_as<Matrices>();
  MatrixRows rows;
  for (std::size_t i = 0; i < matrices.count; ++i) {
    std::memcpy(&rows[8 * i], step.words(2 + i), kMatrixBytes);
    if (matrices.transposed) {
      transpose_8x8(rows[8 * i].data());
    }
  }
  access_rows<false>(step, matrices, 0, rows);
}

/// Reads "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", with or without .trans and .shared.
Matrices matrices_of(const Decoder& d) {
  const auto number = d.one_of({"x1", "x2", "x4"});
  const bool transposed = d.has("trans");
  const bool generic = !d.has("shared");
  const std::size_t parts = 6U + (transposed ? 1 : 0) + (generic ? 0 : 1);
  d.unsupported_if(!number || !d.has("sync") || !d.has("aligned") || !d.has("m8n8") ||
                       !d.has("b16") || d.part_count() != parts,
                   "only .m8n8 of .b16");
  return {1U << *number, transposed, generic};
}

void decode_ldmatrix(Decoder& d) {
  const Matrices matrices = matrices_of(d);
  d.handle(&load_matrices).to_all(0, b32, matrices.count).at(1).gather_all();
  d.result.set_details(matrices);
}

void decode_stmatrix(Decoder& d) {
  const Matrices matrices = matrices_of(d);
  d.handle(&store_matrices).at(0).from_all(1, b32, matrices.count).gather_all();
  d.result.set_details(matrices);
}

}  // namespace

Operations memory_operations() {
  return {{"ld", decode_access<true>},
          {"ldmatrix", decode_ldmatrix},
          {"ldu", decode_access<true>},
          {"st", decode_access<false>},
          {"stmatrix", decode_stmatrix}};
}

}  // namespace fatune::emulate

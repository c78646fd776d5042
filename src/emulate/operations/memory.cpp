#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/text_parts.hpp"
#include "emulate/memory/bank_conflicts.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/memory/shared_lanes.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/schedule/vain_polls.hpp"
#include "emulate/values/transpose.hpp"

// ld, st, ldmatrix and stmatrix: PTX ISA 9.0, sections 9.7.9 and 9.7.14.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

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

constexpr std::uint32_t kMostLaneBytes = 32;
constexpr std::uint32_t kMatrixRowBytes = 16;
constexpr std::size_t kMatrixBytes = std::size_t{8} * kMatrixRowBytes;

std::uint64_t sign_extended(std::uint64_t value, std::uint32_t bytes) {
  const std::uint32_t unused = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

Access access_of(const Shape& shape, std::uint64_t address) {
  return {shape.space, address, shape.bytes(), shape.bytes()};
}

/// The lanes' addresses. `base` points to two operands: the register and the offset.
Addresses addresses_of(const Execution& x, const Warp& warp, const Operand* base) {
  const std::uint64_t offset = x.lanes<std::uint64_t>(warp, base[1])[0];
  Addresses addresses;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = offset + (base->wide ? x.lanes<std::uint64_t>(warp, *base)[lane]
                                           : x.lanes<std::uint32_t>(warp, *base)[lane]);
  }
  return addresses;
}

std::uint64_t element_at(const std::uint8_t* bytes, std::uint32_t size) {
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof(value));
    return std::uint64_t{value};
  };
  switch (size) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    default:
      return as(std::uint64_t{});
  }
}

void set_element(std::uint64_t value, std::uint32_t size, std::uint8_t* bytes) {
  const auto as = [&]<typename T>(T) {
    const auto element = static_cast<T>(value);
    std::memcpy(bytes, &element, sizeof(element));
  };
  switch (size) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    default:
      return as(std::uint64_t{});
  }
}

void load(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<Shape>();
  const Addresses addresses = addresses_of(x, warp, instruction.operands + shape.count);
  count_access(x, instruction, shape.space, addresses, mask, shape.bytes());
  const auto take = [&](int lane, const std::uint8_t* bytes) {
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      std::uint64_t value =
          element_at(bytes + std::size_t{i} * shape.element_bytes, shape.element_bytes);
      value = shape.sign_extends ? sign_extended(value, shape.element_bytes) : value;
      if (shape.wide) {
        x.lanes<std::uint64_t>(warp, instruction.operands[i])[lane] = value;
      } else {
        x.lanes<std::uint32_t>(warp, instruction.operands[i])[lane] =
            static_cast<std::uint32_t>(value);
      }
    }
  };
  if (shape.space == Space::shared && all_in_shared(x, warp, addresses, mask, shape.bytes())) {
    return read_shared_lanes(x, warp, instruction, addresses, mask, shape.bytes(), take);
  }
  std::array<std::uint8_t, kMostLaneBytes> bytes{};
  for_each_lane(mask, [&](int lane) {
    read_memory({x, warp, instruction, lane},
                access_of(shape, addresses[static_cast<std::size_t>(lane)]), bytes.data());
    take(lane, bytes.data());
  });
}

void store(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<Shape>();
  const Addresses addresses = addresses_of(x, warp, instruction.operands);
  count_access(x, instruction, shape.space, addresses, mask, shape.bytes());
  ++x.launch.changes;
  const auto put = [&](int lane, std::uint8_t* bytes) {
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      const Operand& from = instruction.operands[2 + i];
      const std::uint64_t value = shape.wide ? x.lanes<std::uint64_t>(warp, from)[lane]
                                             : x.lanes<std::uint32_t>(warp, from)[lane];
      set_element(value, shape.element_bytes, bytes + std::size_t{i} * shape.element_bytes);
    }
  };
  if (shape.space == Space::shared && all_in_shared(x, warp, addresses, mask, shape.bytes())) {
    return write_shared_lanes(x, warp, instruction, addresses, mask, shape.bytes(), put);
  }
  std::array<std::uint8_t, kMostLaneBytes> bytes{};
  for_each_lane(mask, [&](int lane) {
    put(lane, bytes.data());
    write_memory({x, warp, instruction, lane},
                 access_of(shape, addresses[static_cast<std::size_t>(lane)]), bytes.data());
  });
}

/// A strong load or store. The lanes access memory one after another.
template <Handler kAccess, bool kLoads>
void strong(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto shape = instruction.details_as<Shape>();
  const Addresses addresses =
      addresses_of(x, warp, instruction.operands + (kLoads ? shape.count : 0));
  count_access(x, instruction, shape.space, addresses, mask, shape.bytes());
  const InstructionCounts counted = x.counts(instruction);
  for_each_lane(mask, [&](int lane) {
    StrongAccess access(x, warp, access_of(shape, addresses[static_cast<std::size_t>(lane)]),
                        shape.order);
    kAccess(x, warp, instruction, lane_bit(lane));
    kLoads ? access.reads() : access.writes();
  });
  x.counts(instruction) = counted;  // the lanes' accesses count as one
  if constexpr (kLoads) {
    PollDigest digest(x.index_of(instruction), mask);
    for_each_lane(mask, [&](int lane) {
      digest.add(addresses[static_cast<std::size_t>(lane)]);
      for (std::uint32_t i = 0; i < shape.count; ++i) {
        digest.add(shape.wide ? x.lanes<std::uint64_t>(warp, instruction.operands[i])[lane]
                              : x.word(warp, instruction.operands[i], lane));
      }
    });
    note_poll(x, warp, digest, addresses[static_cast<std::size_t>(std::countr_zero(mask))]);
  }
}

bool is_strong(const Decoder& d) {
  return d.one_of({"volatile", "relaxed", "acquire", "release", "mmio"}).has_value();
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
  return d.call_parameter(trim(name.substr(0, name.find_first_of("+]")))) ? Space::local
                                                                          : Space::parameter;
}

Shape shape_of(const Decoder& d, std::size_t registers, std::size_t address) {
  d.unsupported_if(d.has("v8"), "this form");
  Shape shape;
  shape.element_bytes = static_cast<std::uint8_t>(size_of(d.type()));
  d.unsupported_if(shape.element_bytes == 0 || shape.element_bytes > 8, "this type");
  shape.space = d.has("param") ? parameter_space(d, address) : space_of(d);
  shape.count = d.has("v4") ? 4 : d.has("v2") ? 2 : 1;
  shape.sign_extends = is_signed(d.type());
  shape.wide = shape.element_bytes == 8 || d.is_wide(registers);
  shape.order = order_of(d);
  return shape;
}

// --- Matrices of 8 rows of 16 bytes. Lanes 8 j to 8 j + 7 have the row addresses of matrix j ---

/// The rows of all matrices, indexed by the lane that has a row's address. The register of a matrix
/// that is not transposed holds the same bytes: lane 4 r + i has the i-th 4 bytes of row r.
using MatrixRows = std::array<std::array<std::uint16_t, 8>, kLanes>;

/// The details of ldmatrix and stmatrix.
struct Matrices {
  std::uint32_t count = 1;
  bool transposed = false;
  bool generic = false;  ///< the addresses are generic

  /// The lanes whose addresses are used.
  [[nodiscard]] Mask rows() const { return count == 4 ? kAllLanes : (Mask{1} << (8 * count)) - 1; }
};

/// The rows' addresses in shared memory. Generic addresses of other spaces end up far outside it.
Addresses row_addresses(const Execution& x, const Warp& warp, const Operand* base,
                        Matrices matrices) {
  Addresses addresses = addresses_of(x, warp, base);
  if (matrices.generic) {
    for (std::uint64_t& address : addresses) {
      address -= kSharedWindow;
    }
  }
  return addresses;
}

MatrixRows read_rows(Execution& x, Warp& warp, const Instruction& instruction,
                     const Addresses& addresses, Mask mask) {
  MatrixRows rows;
  const auto row = [&](int lane) { return rows[static_cast<std::size_t>(lane)].data(); };
  if (all_in_shared(x, warp, addresses, mask, kMatrixRowBytes)) {
    read_shared_lanes(x, warp, instruction, addresses, mask, kMatrixRowBytes,
                      [&](int lane, const std::uint8_t* bytes) {
                        std::memcpy(row(lane), bytes, kMatrixRowBytes);
                      });
    return rows;
  }
  for_each_lane(mask, [&](int lane) {
    read_memory({x, warp, instruction, lane},
                {Space::shared, addresses[static_cast<std::size_t>(lane)], kMatrixRowBytes,
                 kMatrixRowBytes},
                row(lane));
  });
  return rows;
}

void write_rows(Execution& x, Warp& warp, const Instruction& instruction,
                const Addresses& addresses, Mask mask, const MatrixRows& rows) {
  const auto row = [&](int lane) { return rows[static_cast<std::size_t>(lane)].data(); };
  if (all_in_shared(x, warp, addresses, mask, kMatrixRowBytes)) {
    return write_shared_lanes(
        x, warp, instruction, addresses, mask, kMatrixRowBytes,
        [&](int lane, std::uint8_t* bytes) { std::memcpy(bytes, row(lane), kMatrixRowBytes); });
  }
  for_each_lane(mask, [&](int lane) {
    write_memory({x, warp, instruction, lane},
                 {Space::shared, addresses[static_cast<std::size_t>(lane)], kMatrixRowBytes,
                  kMatrixRowBytes},
                 row(lane));
  });
}

void load_matrices(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const auto matrices = instruction.details_as<Matrices>();
  const Addresses addresses =
      row_addresses(x, warp, instruction.operands + matrices.count, matrices);
  count_access(x, instruction, Space::shared, addresses, matrices.rows(), kMatrixRowBytes);
  MatrixRows rows = read_rows(x, warp, instruction, addresses, matrices.rows());
  for (std::size_t i = 0; i < matrices.count; ++i) {
    if (matrices.transposed) {
      transpose_8x8(rows[8 * i].data());
    }
    std::memcpy(x.lanes<std::uint32_t>(warp, instruction.operands[i]), &rows[8 * i], kMatrixBytes);
  }
}

void store_matrices(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const auto matrices = instruction.details_as<Matrices>();
  const Addresses addresses = row_addresses(x, warp, instruction.operands, matrices);
  count_access(x, instruction, Space::shared, addresses, matrices.rows(), kMatrixRowBytes);
  MatrixRows rows;
  for (std::size_t i = 0; i < matrices.count; ++i) {
    std::memcpy(&rows[8 * i], x.lanes<std::uint32_t>(warp, instruction.operands[2 + i]),
                kMatrixBytes);
    if (matrices.transposed) {
      transpose_8x8(rows[8 * i].data());
    }
  }
  write_rows(x, warp, instruction, addresses, matrices.rows(), rows);
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

template <bool kLoads>
void decode_matrices(Decoder& d) {
  const Matrices matrices = matrices_of(d);
  const std::vector<Operand> registers = kLoads ? d.destinations(0, b32) : d.values(1, b32);
  d.malformed_if(registers.size() != matrices.count, "wrong number of registers");
  if (kLoads) {
    d.add(registers);
    d.add_address(d.address(1));
  } else {
    d.add_address(d.address(0));
    d.add(registers);
  }
  d.result.handler = kLoads ? &load_matrices : &store_matrices;
  d.result.set_details(matrices);
  d.gather_all();
}

void decode_ld(Decoder& d) {
  const Shape shape = shape_of(d, 0, 1);
  const std::vector<Operand> registers = d.destinations(0, shape.wide ? b64 : d.type());
  d.malformed_if(registers.size() != shape.count, "wrong number of registers");
  d.result.handler = is_strong(d) ? &strong<&load, true> : &load;
  d.result.set_details(shape);
  d.add(registers);
  d.add_address(d.address(1));
}

void decode_st(Decoder& d) {
  const Shape shape = shape_of(d, 1, 0);
  const std::vector<Operand> registers = d.values(1, shape.wide ? b64 : d.type());
  d.malformed_if(registers.size() != shape.count, "wrong number of registers");
  d.result.handler = is_strong(d) ? &strong<&store, false> : &store;
  d.result.set_details(shape);
  d.add_address(d.address(0));
  d.add(registers);
}

}  // namespace

std::span<const NamedOperation> memory_operations() {
  static constexpr NamedOperation kOperations[] = {{"ld", decode_ld},
                                                   {"ldmatrix", decode_matrices<true>},
                                                   {"ldu", decode_ld},
                                                   {"st", decode_st},
                                                   {"stmatrix", decode_matrices<false>}};
  return kOperations;
}

}  // namespace fatune::emulate

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emulate/async/bulk_copies.hpp"
#include "emulate/async/mbarrier_access.hpp"
#include "emulate/memory/memory_access.hpp"
#include "emulate/operations/operations.hpp"

// cp.async.bulk, with tensor maps (TMA) and without: PTX ISA 9.0, sections 9.7.9.25.4
// and 9.7.9.25.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::uint32_t kMulticast = 0x100;  ///< a flag in Instruction::variant, above the rank
constexpr std::uint32_t kTensorMapAlignment = 64;
constexpr std::uint32_t kBulkUnit = 16;
constexpr std::int64_t kMostPendingBulk = 1 << 20;
constexpr std::uint64_t kMostBoxBytes = 1 << 20;

BulkCopy new_copy(const Actor& by, BulkCopy::Kind kind) {
  BulkCopy copy;
  copy.kind = kind;
  copy.instruction = static_cast<std::uint32_t>(by.x.index_of(by.instruction));
  copy.warp = by.warp.agent;
  copy.lane = by.lane;
  copy.group = by.warp.bulk_committed[static_cast<std::size_t>(by.lane)];
  return copy;
}

/// An address of shared::cluster: the block's rank, and the address within that block. Any other
/// address has a rank that no block has.
struct ClusterAddress {
  std::uint64_t rank = 0;
  std::uint32_t own = 0;
};

ClusterAddress cluster_address_of(const Warp& warp, std::uint64_t address) {
  const std::uint64_t part = shared_part(address);
  const std::uint64_t rank = part >> kRankShift;
  return {rank == 0 ? warp.block : rank - 1,
          static_cast<std::uint32_t>(part) & ((1U << kRankShift) - 1)};
}

/// Reports a finding. Returns false.
bool malformed(const Actor& by, const std::string& text) {
  by.report(FindingKind::out_of_bounds, [&] { return text; });
  return false;
}

/// Sets the mbarrier of a copy, for all of its blocks. If one is missing, reports it and returns
/// false. With multicast, only the mbarrier's address within a block counts. Otherwise, the
/// mbarrier must be in the destination's block.
bool set_mbarrier(const Actor& by, std::uint64_t address, BulkCopy& copy) {
  const auto [rank, own] = cluster_address_of(by.warp, address);
  if ((by.instruction.variant & kMulticast) == 0 && !copy.goes_to(rank)) {
    return malformed(
        by,
        fmt::format("the mbarrier belongs to block rank {}, to which the copy does not go", rank));
  }
  for (const Block& block : by.x.blocks) {
    if (!copy.goes_to(block.rank)) {
      continue;
    }
    const MbarrierPlace at =
        find_mbarrier(by, cluster_address(block.rank, own), Space::shared_cluster);
    if (!at) {
      return false;
    }
    copy.mbarrier = at.place.offset;
  }
  return copy.blocks != 0;
}

/// Sets the block of the destination.
bool set_block(const Actor& by, std::uint64_t rank, BulkCopy& copy) {
  if (rank >= by.x.blocks.size()) {
    return malformed(by, fmt::format("block rank {} of a cluster of {}", rank, by.x.blocks.size()));
  }
  copy.blocks = 1U << rank;
  return true;
}

/// Sets the blocks of a multicast, whose mask is the operand at `mask`, or else the block of the
/// destination.
bool set_blocks(const Actor& by, const ClusterAddress& to, std::size_t mask, BulkCopy& copy) {
  if ((by.instruction.variant & kMulticast) == 0) {
    return set_block(by, to.rank, copy);
  }
  copy.blocks = by.word(mask) & 0xffffU;
  if (copy.blocks == 0 || (std::uint64_t{copy.blocks} >> by.x.blocks.size()) != 0) {
    return malformed(
        by, fmt::format("blocks {:#x} of a cluster of {}", copy.blocks, by.x.blocks.size()));
  }
  return true;
}

/// Sets the source, which must be in the block's own shared memory. If it is not, reports it and
/// returns false.
bool set_source(const Actor& by, std::uint64_t address, BulkCopy& copy) {
  const ClusterAddress from = cluster_address_of(by.warp, address);
  copy.shared = from.own;
  if (from.rank != by.warp.block) {
    return malformed(by,
                     fmt::format("copies from shared address {:#x}, which is not the block's own",
                                 shared_part(address)));
  }
  return true;
}

/// True if two lanes of a store have the same operands: the addresses and `words` words after them.
bool same_operands(const Execution& x, const Warp& warp, const Instruction& instruction, int a,
                   int b, std::size_t words) {
  const Operand* const operands = instruction.operands;
  bool same = x.address(warp, operands, a) == x.address(warp, operands, b) &&
              x.address(warp, operands + 2, a) == x.address(warp, operands + 2, b);
  for (std::size_t i = 0; same && i < words; ++i) {
    same = x.word(warp, operands[4 + i], a) == x.word(warp, operands[4 + i], b);
  }
  return same;
}

/// The lanes of a store without those that repeat the store of an earlier lane. If all lanes of a
/// warp store one tile, they write the same bytes to the same place. The machine code of NVRTC 13.0
/// stores once for each set of operands that the lanes have.
Mask distinct_stores(const Execution& x, const Warp& warp, const Instruction& instruction,
                     Mask mask, std::size_t words) {
  Mask distinct = 0;
  for_each_lane(mask, [&](int lane) {
    bool repeats = false;
    for_each_lane(distinct, [&](int before) {
      repeats = repeats || same_operands(x, warp, instruction, before, lane, words);
    });
    distinct |= repeats ? 0 : Mask{1} << lane;
  });
  return distinct;
}

// --- With a tensor map. Operands: shared (2), map (2), coordinates, mbarrier (2), mask ---

bool read_box(const Actor& by, BulkCopy& copy) {
  std::array<std::uint8_t, kTensorMapBytes> bytes{};
  read_memory(by, {Space::generic, by.address(2), kTensorMapBytes, kTensorMapAlignment},
              bytes.data());
  const std::optional<TensorMap> map = decode_tensor_map(bytes);
  const std::uint32_t rank = by.instruction.variant & 0xffU;
  if (!map || map->rank != rank) {
    return malformed(by,
                     fmt::format("there is no tensor map of {} dimensions at this address", rank));
  }
  BulkCopy::Box box{*map, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    box.corner[i] = static_cast<std::int32_t>(by.word(4 + i));
  }
  if (map->box_bytes() > kMostBoxBytes) {
    return malformed(
        by, fmt::format("a box of {} bytes, more than any shared memory has", map->box_bytes()));
  }
  copy.bytes = static_cast<std::uint32_t>(map->box_bytes());
  copy.box = box;
  return true;
}

void load_box(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t rank = instruction.variant & 0xffU;
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    BulkCopy copy = new_copy(by, BulkCopy::Kind::load);
    const ClusterAddress to = cluster_address_of(warp, by.address(0));
    copy.shared = to.own;
    if (read_box(by, copy) && set_blocks(by, to, 6 + rank, copy) &&
        set_mbarrier(by, by.address(4 + rank), copy)) {
      issue(x, copy);
    }
  });
}

void store_box(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const std::size_t rank = instruction.variant & 0xffU;
  const Mask distinct = distinct_stores(x, warp, instruction, mask, rank);
  for_each_actor(x, warp, instruction, distinct, [&](const Actor& by) {
    BulkCopy copy = new_copy(by, BulkCopy::Kind::store);
    if (set_source(by, by.address(0), copy) && read_box(by, copy)) {
      issue(x, copy);
    }
  });
}

// --- Without a map. Operands: shared (2), the other address (2), bytes, mbarrier (2), mask ---

bool set_bytes(const Actor& by, BulkCopy& copy) {
  copy.bytes = by.word(4);
  if (copy.bytes % kBulkUnit != 0 || copy.global % kBulkUnit != 0) {
    return malformed(
        by,
        fmt::format("a bulk copy of {} bytes, global address {:#x}: both must be multiples of {}",
                    copy.bytes, copy.global, kBulkUnit));
  }
  return copy.bytes > 0;
}

void load_bytes(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    BulkCopy copy = new_copy(by, BulkCopy::Kind::load);
    const ClusterAddress to = cluster_address_of(warp, by.address(0));
    copy.shared = to.own;
    copy.global = by.address(2);
    if (set_bytes(by, copy) && set_blocks(by, to, 7, copy) &&
        set_mbarrier(by, by.address(5), copy)) {
      issue(x, copy);
    }
  });
}

void store_bytes(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const Mask distinct = distinct_stores(x, warp, instruction, mask, 1);
  for_each_actor(x, warp, instruction, distinct, [&](const Actor& by) {
    BulkCopy copy = new_copy(by, BulkCopy::Kind::store);
    copy.global = by.address(2);
    if (set_source(by, by.address(0), copy) && set_bytes(by, copy)) {
      issue(x, copy);
    }
  });
}

/// The first address is the source, in the block's own memory. The second is the destination.
void move_bytes(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  for_each_actor(x, warp, instruction, mask, [&](const Actor& by) {
    BulkCopy copy = new_copy(by, BulkCopy::Kind::move);
    const ClusterAddress to = cluster_address_of(warp, by.address(2));
    copy.destination = to.own;
    if (set_source(by, by.address(0), copy) && set_bytes(by, copy) &&
        set_block(by, to.rank, copy) && set_mbarrier(by, by.address(5), copy)) {
      issue(x, copy);
    }
  });
}

// --- Groups of stores ---

void commit_bulk_group(Execution&, Warp& warp, const Instruction&, Mask mask) {
  for_each_lane(mask, [&](int lane) { ++warp.bulk_committed[static_cast<std::size_t>(lane)]; });
}

void wait_bulk_group(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  await_bulk_groups(x, warp, mask, instruction.variant);
}

std::uint32_t box_rank(const Decoder& d) {
  const auto rank = d.one_of({"1d", "2d", "3d", "4d", "5d"});
  d.unsupported_if(!rank || d.one_of({"im2col", "im2col_no_offs", "im2col::w", "im2col::w::128",
                                      "im2col_at", "tile::gather4", "tile::scatter4"}),
                   "only tiles");
  return static_cast<std::uint32_t>(*rank) + 1;
}

/// Adds the operand "[%map, {%c0, %c1}]" at `index`.
void add_box(Decoder& d, std::size_t index) {
  const std::uint32_t rank = box_rank(d);
  const std::vector<std::string> parts = d.bracketed(index);
  d.malformed_if(parts.size() != 2, "expected a tensor map with coordinates");
  const std::vector<Operand> coordinates = d.values_named(parts[1], s32);
  d.malformed_if(coordinates.size() != rank, "wrong number of coordinates");
  d.add_address(d.address_named(parts[0]));
  d.add(coordinates);
  d.result.variant |= rank;
}

void add_mask(Decoder& d, std::size_t index) {
  if (d.has("multicast::cluster")) {
    d.result.variant |= kMulticast;
    d.add(d.value(index, u16));
  }
}

void decode_box_copy(Decoder& d) {
  if (d.has("bulk_group")) {
    d.add_address(d.address(1));
    add_box(d, 0);
    d.result.handler = &store_box;
    return;
  }
  d.add_address(d.address(0));
  add_box(d, 1);
  d.add_address(d.address(2));
  add_mask(d, 3);
  d.result.handler = &load_box;
}

void decode_byte_copy(Decoder& d) {
  const bool from_global = !d.has("bulk_group") && d.has("global");
  const std::size_t shared = from_global ? 0 : 1;
  d.add_address(d.address(shared));
  d.add_address(d.address(1 - shared));
  d.add(d.value(2, u32));
  if (!d.has("bulk_group")) {
    d.add_address(d.address(3));
    add_mask(d, 4);
  }
  d.result.handler = d.has("bulk_group") ? &store_bytes : from_global ? &load_bytes : &move_bytes;
}

}  // namespace

void decode_bulk(Decoder& d) {
  d.unsupported_if(d.name() != "cp" || d.has("cp_mask") || d.has("ignore_oob"));
  if (d.has("prefetch")) {
    d.result.handler = &do_nothing;
  } else if (d.has("commit_group")) {
    d.result.handler = &commit_bulk_group;
  } else if (d.has("wait_group")) {
    d.result.handler = &wait_bulk_group;
    d.result.variant = d.count(0, kMostPendingBulk, "wrong number of groups");
  } else if (!d.has("bulk_group") && !d.has("mbarrier::complete_tx::bytes")) {
    d.unsupported("how it completes");
  } else if (d.has("tensor")) {
    decode_box_copy(d);
  } else {
    decode_byte_copy(d);
  }
}

}  // namespace fatune::emulate

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "emulator/async/copies.hpp"
#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/operations.hpp"

// cp.async and its groups, and cp.async.bulk with tensor maps (TMA) and without: PTX ISA 9.0,
// sections 9.7.9.25, 9.7.9.25.4 and 9.7.9.25.5.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::int64_t kMostPending = 1 << 20;

void start_copy(const Actor& by, std::uint64_t destination, std::uint64_t source,
                std::uint32_t source_bytes) {
  const std::uint32_t bytes = by.instruction.variant;
  const SharedPlace place = check_shared(by, {Space::shared, destination, bytes, bytes});
  if (!place) {
    return;
  }
  if (by.x.setup.checks.race) {
    report_shared(by, by.block().shared.note_issue(by.accessor(), place.offset, bytes),
                  kCopiesToShared);
  }
  by.warp.copies.push_back(
      {.source = source,
       .destination = place.offset,
       .instruction = static_cast<std::uint32_t>(by.index()),
       .group = by.warp.committed[static_cast<std::size_t>(by.lane)],
       .lane = static_cast<std::uint8_t>(by.lane),
       .bytes = static_cast<std::uint8_t>(bytes),
       .source_bytes = static_cast<std::uint8_t>(std::min(source_bytes, bytes)),
       .order = by.warp.async_order++});
  if (lands_at_issue(by.x)) {
    land(by.x, by.warp, by.warp.copies.back());
  }
}

/// Operands: destination (2), source (2), bytes of the source.
void copy_async(const Step& step) {
  std::array<std::uint64_t, kLanes> destinations{};
  std::array<std::uint64_t, kLanes> sources{};
  Mask reads = 0;  // a copy of no source bytes reads nothing
  step.for_each([&](int lane) {
    const auto index = static_cast<std::size_t>(lane);
    destinations[index] = step.address(0, lane);
    sources[index] = step.address(2, lane);
    const std::uint32_t source_bytes = step.words(4)[lane];
    reads |= source_bytes > 0 ? lane_bit(lane) : 0U;
    start_copy(step.by(lane), destinations[index], sources[index], source_bytes);
  });
  count_access(step, Space::shared, destinations, step.mask, step.instruction.variant);
  step.counts().global_sectors += global_sectors(sources, reads, step.instruction.variant);
}

template <auto Warp::*kCommitted>
void commit_group(const Step& step) {
  step.for_each([&](int lane) { ++(step.warp.*kCommitted)[static_cast<std::size_t>(lane)]; });
}

void wait_group(const Step& step) {
  await_copies(step.x, step.warp, step.mask, step.instruction.variant);
}

void wait_all(const Step& step) {
  commit_group<&Warp::committed>(step);
  await_copies(step.x, step.warp, step.mask, 0);
}

/// Operands: address (2).
void arrive_when_copied(const Actor& by) {
  const MbarrierPlace at = find_mbarrier(by, shared_part(by.address(0)), Space::shared);
  if (!at) {
    return;
  }
  if (by.instruction.variant != 0) {
    report_misuse(by, at.mbarrier->add_arrival());
  }
  Warp& warp = by.warp;
  warp.arrivals.push_back({static_cast<std::uint32_t>(by.index()), at.place.offset,
                           warp.async_order++, static_cast<std::uint8_t>(by.lane)});
  if (lands_at_issue(by.x)) {
    arrive_for(by.x, warp, warp.arrivals.size() - 1);
  }
}

void decode_copy(Decoder& d) {
  d.unsupported_if(!d.has("shared") || !d.has("global") || d.operand_count() < 3, "this form");
  const AddressOperand from = d.address(1);
  d.malformed_if(!from.wide, "wrong source address");
  const std::int64_t bytes = d.immediate(2);
  d.malformed_if(bytes != 16 && (d.has("cg") || (bytes != 4 && bytes != 8)),
                 "a copy must have 4, 8 or 16 bytes (16 with .cg)");
  d.handle(&copy_async, bytes).at(0).add_address(from);
  d.from(d.operand_count() > 3 ? 3 : 2, u32);
}

constexpr std::uint32_t kMulticast = 0x100;  ///< a flag in Instruction::variant, above the rank
constexpr std::uint32_t kTensorMapAlignment = 64;
constexpr std::uint32_t kBulkUnit = 16;
constexpr std::uint64_t kMostBoxBytes = 1 << 20;

BulkCopy new_copy(const Actor& by, BulkCopy::Kind kind) {
  return {.kind = kind,
          .instruction = static_cast<std::uint32_t>(by.index()),
          .warp = by.warp.agent,
          .lane = by.lane,
          .group = by.warp.bulk_committed[static_cast<std::size_t>(by.lane)]};
}

/// Reports a finding. Returns false.
template <typename... Values>
bool malformed(const Actor& by, fmt::format_string<const Values&...> text,
               const Values&... values) {
  by.report(FindingKind::out_of_bounds, [&] { return fmt::format(text, values...); });
  return false;
}

/// Sets the mbarrier of a copy, for all of its blocks. If one is missing, reports it and returns
/// false. With multicast, only the mbarrier's address within a block counts. Otherwise, the
/// mbarrier must be in the destination's block.
bool set_mbarrier(const Actor& by, std::uint64_t address, BulkCopy& copy) {
  const auto [rank, own] = cluster_address_of(by.warp, address);
  if ((by.instruction.variant & kMulticast) == 0 && !copy.goes_to(rank)) {
    return malformed(by, "the mbarrier belongs to block rank {}, to which the copy does not go",
                     rank);
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

bool set_block(const Actor& by, std::uint64_t rank, BulkCopy& copy) {
  if (rank >= by.x.blocks.size()) {
    return malformed(by, "block rank {} of a cluster of {}", rank, by.x.blocks.size());
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
    return malformed(by, "blocks {:#x} of a cluster of {}", copy.blocks, by.x.blocks.size());
  }
  return true;
}

/// Sets the source, which must be in the block's own shared memory. If it is not, reports it and
/// returns false.
bool set_source(const Actor& by, std::uint64_t address, BulkCopy& copy) {
  const ClusterAddress from = cluster_address_of(by.warp, address);
  copy.shared = from.own;
  if (from.rank != by.warp.block) {
    return malformed(by, "copies from shared address {:#x}, which is not the block's own",
                     shared_part(address));
  }
  return true;
}

/// True if two lanes of a store have the same operands: the addresses and `words` words after them.
bool same_operands(const Step& step, int a, int b, std::size_t words) {
  bool same = step.address(0, a) == step.address(0, b) && step.address(2, a) == step.address(2, b);
  for (std::size_t i = 0; same && i < words; ++i) {
    same = step.words(4 + i)[a] == step.words(4 + i)[b];
  }
  return same;
}

/// The store without the lanes that repeat the store of an earlier lane. If all lanes of a warp
/// store one tile, they write the same bytes to the same place. The machine code of NVRTC 13.0
/// stores once for each set of operands that the lanes have.
Step distinct_stores(const Step& step, std::size_t words) {
  Step distinct = step;
  distinct.mask = 0;
  step.for_each([&](int lane) {
    const Mask same = lanes_where(
        distinct.mask, [&](int before) { return same_operands(step, before, lane, words); });
    distinct.mask |= same != 0 ? 0 : lane_bit(lane);
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
    return malformed(by, "there is no tensor map of {} dimensions at this address", rank);
  }
  BulkCopy::Box box{*map, {}};
  for (std::size_t i = 0; i < rank; ++i) {
    box.corner[i] = static_cast<std::int32_t>(by.word(4 + i));
  }
  if (map->box_bytes() > kMostBoxBytes) {
    return malformed(by, "a box of {} bytes, more than any shared memory has", map->box_bytes());
  }
  copy.bytes = static_cast<std::uint32_t>(map->box_bytes());
  copy.box = box;
  return true;
}

// --- Without a map. Operands: shared (2), the other address (2), bytes, mbarrier (2), mask ---

bool set_bytes(const Actor& by, BulkCopy& copy) {
  copy.bytes = by.word(4);
  if (copy.bytes % kBulkUnit != 0 || copy.global % kBulkUnit != 0) {
    return malformed(by,
                     "a bulk copy of {} bytes, global address {:#x}: both must be multiples of {}",
                     copy.bytes, copy.global, kBulkUnit);
  }
  return copy.bytes > 0;
}

/// The number of the tensor map's dimensions; 0: there is no map.
std::size_t rank_of(const Executing& at) { return at.instruction.variant & 0xffU; }

/// Sets what is copied, from the operands from 2 on.
bool set_content(const Actor& by, BulkCopy& copy) {
  if (rank_of(by) != 0) {
    return read_box(by, copy);
  }
  copy.global = by.address(2);
  return set_bytes(by, copy);
}

void load_bulk(const Actor& by) {
  const std::size_t mbarrier = rank_of(by) == 0 ? 5 : 4 + rank_of(by);
  BulkCopy copy = new_copy(by, BulkCopy::Kind::load);
  const ClusterAddress to = cluster_address_of(by.warp, by.address(0));
  copy.shared = to.own;
  if (set_content(by, copy) && set_blocks(by, to, mbarrier + 2, copy) &&
      set_mbarrier(by, by.address(mbarrier), copy)) {
    issue(by.x, copy);
  }
}

void store_bulk_one(const Actor& by) {
  BulkCopy copy = new_copy(by, BulkCopy::Kind::store);
  if (set_source(by, by.address(0), copy) && set_content(by, copy)) {
    issue(by.x, copy);
  }
}

void store_bulk(const Step& step) {
  Step::each<&store_bulk_one>(distinct_stores(step, std::max<std::size_t>(1, rank_of(step))));
}

/// The first address is the source, in the block's own memory. The second is the destination.
void move_bytes(const Actor& by) {
  BulkCopy copy = new_copy(by, BulkCopy::Kind::move);
  const ClusterAddress to = cluster_address_of(by.warp, by.address(2));
  copy.destination = to.own;
  if (set_source(by, by.address(0), copy) && set_bytes(by, copy) && set_block(by, to.rank, copy) &&
      set_mbarrier(by, by.address(5), copy)) {
    issue(by.x, copy);
  }
}

void wait_bulk_group(const Step& step) {
  await_bulk_groups(step.x, step.warp, step.mask, step.instruction.variant);
}

std::uint32_t box_rank(const Decoder& d) {
  const auto rank = d.one_of({"1d", "2d", "3d", "4d", "5d"});
  d.unsupported_if(!rank || d.one_of({"im2col", "im2col_no_offs", "im2col::w", "im2col::w::128",
                                      "im2col_at", "tile::gather4", "tile::scatter4"}),
                   "only tiles");
  return static_cast<std::uint32_t>(*rank) + 1;
}

/// Adds the operand "[%map, {%c0, %c1}]" at `index`.
Decoder& add_box(Decoder& d, std::size_t index) {
  const std::uint32_t rank = box_rank(d);
  const std::vector<std::string> parts = d.bracketed(index);
  d.malformed_if(parts.size() != 2, "expected a tensor map with coordinates");
  const std::vector<Operand> coordinates = d.values_named(parts[1], s32);
  d.malformed_if(coordinates.size() != rank, "wrong number of coordinates");
  d.result.variant |= rank;
  return d.add_address(d.address_named(parts[0])).add(coordinates);
}

void add_mask(Decoder& d, std::size_t index) {
  if (d.has("multicast::cluster")) {
    d.result.variant |= kMulticast;
    d.from(index, u16);
  }
}

void decode_box_copy(Decoder& d) {
  if (d.has("bulk_group")) {
    add_box(d.handle(&store_bulk).at(1), 0);
  } else {
    add_box(d.handle(&Step::each<&load_bulk>).at(0), 1).at(2);
    add_mask(d, 3);
  }
}

void decode_byte_copy(Decoder& d) {
  const bool stores = d.has("bulk_group");
  const bool from_global = !stores && d.has("global");
  const std::size_t shared = from_global ? 0 : 1;
  d.handle(stores ? &store_bulk : from_global ? &Step::each<&load_bulk> : &Step::each<&move_bytes>);
  d.at(shared).at(1 - shared).from(2, u32);
  if (!stores) {
    d.at(3);
    add_mask(d, 4);
  }
}

void decode_bulk(Decoder& d) {
  d.unsupported_if(d.has("cp_mask") || d.has("ignore_oob"));
  if (d.has("prefetch")) {
    d.handle(&do_nothing);
  } else if (d.has("commit_group")) {
    d.handle(&commit_group<&Warp::bulk_committed>);
  } else if (d.has("wait_group")) {
    d.handle(&wait_bulk_group, d.count(0, kMostPending, "wrong number of groups"));
  } else if (!d.has("bulk_group") && !d.has("mbarrier::complete_tx::bytes")) {
    d.unsupported("how it completes");
  } else if (d.has("tensor")) {
    decode_box_copy(d);
  } else {
    decode_byte_copy(d);
  }
}

void decode_cp(Decoder& d) {
  d.unsupported_if(d.part_count() < 2 || d.part(1) != "async" || d.has("reduce"));
  if (d.has("bulk")) {
    decode_bulk(d);
  } else if (d.has("mbarrier")) {
    // The variant says whether one more arrival is expected.
    d.handle(&Step::each<&arrive_when_copied>, d.has("noinc") ? 0 : 1).at(0);
  } else if (d.has("commit_group")) {
    d.handle(&commit_group<&Warp::committed>);
  } else if (d.has("wait_all")) {
    d.handle(&wait_all);
  } else if (d.has("wait_group")) {
    d.handle(&wait_group, d.count(0, kMostPending, "wrong number of groups"));
  } else {
    decode_copy(d);
  }
}

}  // namespace

Operations copy_operations() { return {{"cp", decode_cp}}; }

}  // namespace fatune::emulate

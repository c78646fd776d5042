#include "emulator/async/copies.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kTensorAlignment = 128;
constexpr std::uint32_t kBulkAlignment = 16;

Actor actor_of(Execution& x, const BulkCopy& copy) {
  return {x, x.warps[copy.warp], x.program.instructions[copy.instruction], copy.lane};
}

template <typename Work>
void for_each_piece_of(const BulkCopy& copy, const Work& work) {
  if (copy.box) {
    for_each_piece(copy.box->map, copy.box->corner, copy.shared, work);
  } else {
    work(BoxPiece{copy.global, copy.shared, copy.bytes});
  }
}

/// The location of a piece in a block; empty if a swizzle leads out of its shared memory.
SharedPlace place_of(Block& block, std::uint32_t address, std::uint32_t bytes) {
  const std::uint32_t offset = address - kSharedBase;
  return block.shared.holds(offset, bytes) ? SharedPlace{&block, offset} : SharedPlace{};
}

/// True if all bytes that the copy accesses in a block's shared memory exist. Reports them if not.
bool is_there(Execution& x, const BulkCopy& copy, std::uint32_t rank, std::uint32_t address) {
  const Access access{Space::shared_cluster, cluster_address(rank, address), copy.bytes,
                      copy.box ? kTensorAlignment : kBulkAlignment};
  return static_cast<bool>(check_shared(actor_of(x, copy), access));
}

template <typename Work>
void for_each_destination(Execution& x, const BulkCopy& copy, Work work) {
  for (Block& block : x.blocks) {
    if (copy.goes_to(block.rank)) {
      work(block);
    }
  }
}

void note_destination(Execution& x, const BulkCopy& copy, Block& block, std::uint32_t address,
                      std::uint32_t bytes) {
  if (const SharedPlace place = place_of(block, address, bytes)) {
    const Actor by = actor_of(x, copy);
    report_shared(by, block.shared.note_issue(by.accessor(), place.offset, bytes), kCopiesToShared);
  }
}

void note_source(Execution& x, const BulkCopy& copy, std::uint32_t address, std::uint32_t bytes) {
  const Actor by = actor_of(x, copy);
  if (const SharedPlace place = place_of(by.block(), address, bytes)) {
    report_shared(by,
                  by.block().shared.begin_async_read(by.accessor(), by.warp.clock.fenced,
                                                     place.offset, bytes),
                  kCopiesFromShared);
  }
}

void end_source(Execution& x, const BulkCopy& copy) {
  const Actor by = actor_of(x, copy);
  for_each_piece_of(copy, [&](const BoxPiece& piece) {
    if (const SharedPlace place = place_of(by.block(), piece.shared, piece.bytes)) {
      by.block().shared.end_async_read(by.accessor(), place.offset, piece.bytes);
    }
  });
}

void note_issue(Execution& x, const BulkCopy& copy) {
  for_each_piece_of(copy, [&](const BoxPiece& piece) {
    if (copy.kind != BulkCopy::Kind::load) {
      note_source(x, copy, piece.shared, piece.bytes);
    } else {
      for_each_destination(x, copy, [&](Block& block) {
        note_destination(x, copy, block, piece.shared, piece.bytes);
      });
    }
  });
  if (copy.kind == BulkCopy::Kind::move) {
    for_each_destination(x, copy, [&](Block& block) {
      note_destination(x, copy, block, copy.destination, copy.bytes);
    });
  }
}

/// Writes the bytes to a block. Threads that wait for its mbarrier may then access them.
void arrive_in(Execution& x, const BulkCopy& copy, Block& block, std::uint32_t address,
               std::span<const std::uint8_t> bytes) {
  const auto count = static_cast<std::uint32_t>(bytes.size());
  const SharedPlace place = place_of(block, address, count);
  if (!place) {
    return;
  }
  std::memcpy(place.data(), bytes.data(), bytes.size());
  const Mbarrier* const mbarrier = block.mbarriers.find(copy.mbarrier);
  if (x.setup.checks.race) {
    block.shared.note_landing(mbarrier != nullptr ? mbarrier->epoch() : Epoch(), place.offset,
                              count);
  }
}

std::uint8_t* global_bytes(Execution& x, const BulkCopy& copy, std::uint64_t address,
                           std::uint32_t bytes, bool reads) {
  return check_global(actor_of(x, copy), {Space::global, address, bytes, 1}, reads);
}

void land_load(Execution& x, const BulkCopy& copy) {
  std::vector<std::uint8_t> bytes;
  for_each_piece_of(copy, [&](const BoxPiece& piece) {
    bytes.assign(piece.bytes, 0);
    if (!piece.global) {  // out of the tensor's bounds; it begins at the start of an element
      for (std::uint32_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = copy.box->map.fill_byte(i);
      }
    } else if (const auto* const from = global_bytes(x, copy, *piece.global, piece.bytes, true)) {
      std::copy_n(from, piece.bytes, bytes.begin());
    }
    for_each_destination(x, copy,
                         [&](Block& block) { arrive_in(x, copy, block, piece.shared, bytes); });
  });
}

void land_store(Execution& x, const BulkCopy& copy) {
  Block& block = x.block_of(x.warps[copy.warp]);
  for_each_piece_of(copy, [&](const BoxPiece& piece) {
    const SharedPlace from = place_of(block, piece.shared, piece.bytes);
    if (!piece.global || !from) {
      return;
    }
    if (std::uint8_t* const to = global_bytes(x, copy, *piece.global, piece.bytes, false)) {
      std::memcpy(to, from.data(), piece.bytes);
    }
  });
}

void land_move(Execution& x, const BulkCopy& copy) {
  if (const SharedPlace from = place_of(x.block_of(x.warps[copy.warp]), copy.shared, copy.bytes)) {
    const std::vector<std::uint8_t> bytes(from.data(), from.data() + copy.bytes);
    for_each_destination(x, copy,
                         [&](Block& block) { arrive_in(x, copy, block, copy.destination, bytes); });
  }
  if (x.setup.checks.race) {
    end_source(x, copy);
  }
}

void complete(Execution& x, const BulkCopy& copy, Block& block) {
  Mbarrier* const mbarrier = block.mbarriers.find(copy.mbarrier);
  const MbarrierFault fault = mbarrier == nullptr ? "the mbarrier of the copy no longer exists"
                                                  : mbarrier->complete(copy.bytes);
  if (!fault.empty()) {
    actor_of(x, copy).report(FindingKind::barrier_misuse, [&] { return fault; });
  }
}

void land(Execution& x, BulkCopy& copy) {
  copy.landed = true;
  x.note_progress();
  switch (copy.kind) {
    case BulkCopy::Kind::store:
      land_store(x, copy);
      return;
    case BulkCopy::Kind::load:
      land_load(x, copy);
      break;
    case BulkCopy::Kind::move:
      land_move(x, copy);
      break;
  }
  for_each_destination(x, copy, [&](Block& block) { complete(x, copy, block); });
}

void count(Execution& x, const BulkCopy& copy) {
  InstructionCounts& counts = actor_of(x, copy).counts();
  counts.bytes += copy.bytes;
  std::uint64_t last = ~std::uint64_t{0};
  for_each_piece_of(copy, [&](const BoxPiece& piece) {
    if (!piece.global || copy.kind == BulkCopy::Kind::move) {
      return;
    }
    const std::uint64_t first = *piece.global / kSectorBytes;
    const std::uint64_t end = (*piece.global + piece.bytes - 1) / kSectorBytes + 1;
    counts.global_sectors += end - first - (first == last ? 1 : 0);
    last = end - 1;
  });
}

}  // namespace

void issue(Execution& x, BulkCopy copy) {
  const std::uint32_t own = x.block_of(x.warps[copy.warp]).rank;
  bool there = copy.kind == BulkCopy::Kind::load || is_there(x, copy, own, copy.shared);
  for_each_destination(x, copy, [&](Block& block) {
    const bool moves = copy.kind == BulkCopy::Kind::move;
    const std::uint32_t to = moves ? copy.destination : copy.shared;
    there = there && is_there(x, copy, block.rank, to);
    if (const SharedPlace place = place_of(block, to, copy.bytes); there && place) {
      static_cast<void>(keeps_mbarriers(actor_of(x, copy), place, copy.bytes));  // only to report
    }
  });
  if (!there) {
    return;
  }
  if (x.setup.checks.race) {
    note_issue(x, copy);
  }
  count(x, copy);
  x.bulk.push_back(copy);
  if (lands_at_issue(x)) {
    BulkCopy& issued = x.bulk.back();
    land(x, issued);
    if (issued.kind != BulkCopy::Kind::store) {
      x.bulk.pop_back();
    }
  }
}

bool land_next_bulk(Execution& x) {
  const auto waits = [](const BulkCopy& copy) {
    return !copy.landed && copy.kind != BulkCopy::Kind::store;
  };
  const auto next = std::ranges::find_if(x.bulk, waits);
  if (next == x.bulk.end()) {
    return false;
  }
  land(x, *next);
  x.bulk.erase(next);
  return true;
}

void land_some_bulk(Execution& x) {
  constexpr std::uint64_t kOneIn = 4;
  for (BulkCopy& copy : x.bulk) {
    if (!copy.landed && x.random() % kOneIn == 0) {
      land(x, copy);
    }
  }
  std::erase_if(x.bulk, [](const BulkCopy& copy) {  // stores must still be waited for
    return copy.landed && copy.kind != BulkCopy::Kind::store;
  });
}

void await_bulk_groups(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending) {
  const auto done = [&](const BulkCopy& copy) {
    return copy.kind == BulkCopy::Kind::store && copy.warp == warp.agent &&
           has_lane(lanes, copy.lane) &&
           copy.group + pending < warp.bulk_committed[static_cast<std::size_t>(copy.lane)];
  };
  for (BulkCopy& copy : x.bulk) {
    if (!done(copy)) {
      continue;
    }
    if (!copy.landed) {
      land(x, copy);
    }
    if (x.setup.checks.race) {
      end_source(x, copy);
    }
  }
  std::erase_if(x.bulk, done);
}

void report_pending_stores(Execution& x, const Warp& warp) {
  const auto is_left = [&](const BulkCopy& copy) {
    return copy.kind == BulkCopy::Kind::store && copy.warp == warp.agent &&
           !has_lane(warp.alive, copy.lane);
  };
  for (BulkCopy& copy : x.bulk) {
    if (is_left(copy)) {
      actor_of(x, copy).report(FindingKind::pending_at_exit, [&] {
        return fmt::format(
            "the thread ends without waiting until this store has read its {} bytes of shared "
            "memory",
            copy.bytes);
      });
      if (!copy.landed) {
        land(x, copy);
      }
    }
  }
  std::erase_if(x.bulk, is_left);
}

void report_pending_loads(Execution& x) {
  for (const BulkCopy& copy : x.bulk) {
    actor_of(x, copy).report(FindingKind::pending_at_exit, [&] {
      return fmt::format(
          "the blocks end, and no thread has waited for this copy of {} bytes to shared memory",
          copy.bytes);
    });
  }
}

}  // namespace fatune::emulate

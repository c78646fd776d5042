#include "emulator/memory/memory_access.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "emulator/memory/clocks.hpp"

namespace fatune::emulate {
namespace {

std::string shared_name(const Execution& x, std::uint32_t offset) {
  const std::uint32_t dynamic = x.program.dynamic_shared_offset;
  const bool may_be_known = x.setup.name_shared && offset >= dynamic;
  const std::string name = may_be_known ? x.setup.name_shared(offset - dynamic) : std::string();
  return name.empty() ? fmt::format("shared memory + {}", offset) : name;
}

/// True if the other access is a copy that completes on an mbarrier which was not waited for.
bool is_copy(const Execution& x, const SharedFault& fault) {
  return fault.kind == SharedFault::Kind::race && fault.other.agent() >= 2 * x.warps.size();
}

std::string thread_name(const Execution& x, Epoch epoch) {
  const Warp& warp = x.warp_of(epoch.agent());
  const std::string thread =
      fmt::format("thread {} (warp {})", warp.index * kLanes + epoch.lane(), warp.index);
  return x.blocks.size() == 1 ? thread : fmt::format("{} of block rank {}", thread, warp.block);
}

std::string describe(const Execution& x, const SharedFault& fault, const char* doing,
                     const std::string& where) {
  switch (fault.kind) {
    case SharedFault::Kind::uninitialised:
      return fmt::format("{} {}, which no thread has written", doing, where);
    case SharedFault::Kind::in_flight:
      return fmt::format("{} {} while an asynchronous copy of {} is on its way there", doing, where,
                         thread_name(x, fault.other));
    case SharedFault::Kind::being_read:
      return fmt::format("{} {}, which an asynchronous operation may still read", doing, where);
    case SharedFault::Kind::unfenced:
      return fmt::format(
          "{} {} through the async proxy, which {} wrote through the generic proxy, with no "
          "fence.proxy.async in between",
          doing, where, thread_name(x, fault.other));
    case SharedFault::Kind::race:
      break;
  }
  if (is_copy(x, fault)) {
    return fmt::format(
        "{} {}, which an asynchronous copy writes, without waiting for the mbarrier of the copy",
        doing, where);
  }
  return fmt::format("{} {}, which {} {}, with no synchronisation in between", doing, where,
                     thread_name(x, fault.other), fault.other_writes ? "writes" : "reads");
}

FindingKind kind_of(SharedFault::Kind kind) {
  using Kind = SharedFault::Kind;
  return kind == Kind::uninitialised                           ? FindingKind::uninitialised
         : kind == Kind::in_flight || kind == Kind::being_read ? FindingKind::in_flight
         : kind == Kind::unfenced                              ? FindingKind::missing_proxy_fence
                                                               : FindingKind::race;
}

/// Resolves a generic address to its space and the address in that space. Generic addresses reach
/// the shared memory of all blocks of the cluster.
Access resolved(Access access) {
  if (access.space != Space::generic) {
    return access;
  }
  const std::uint64_t window = access.address / kWindowBytes * kWindowBytes;
  access.space = space_of_generic(access.address);
  if (access.space != Space::global) {
    access.address -= window;
  }
  if (access.space == Space::shared) {
    access.space = Space::shared_cluster;
  }
  return access;
}

bool aligned(const Actor& by, const Access& access) {
  if (access.address % access.alignment == 0) {
    return true;
  }
  by.report(FindingKind::misaligned, [&] {
    return fmt::format("{} bytes at {:#x}, which is not a multiple of {}", access.bytes,
                       access.address, access.alignment);
  });
  return false;
}

void out_of_bounds(const Actor& by, const Access& access, const std::string& where) {
  by.report(FindingKind::out_of_bounds,
            [&] { return fmt::format("{} bytes at {}", access.bytes, where); });
}

/// The bytes of an access to a memory of `room` bytes from `memory` on; null if they are outside.
template <typename Byte>
Byte* bytes_in(const Actor& by, const Access& access, Byte* memory, std::uint64_t room,
               const char* memory_has) {
  if (access.address > room || access.bytes > room - access.address) {
    out_of_bounds(by, access, fmt::format(fmt::runtime(memory_has), access.address, room));
    return nullptr;
  }
  return memory + access.address;
}

std::uint8_t* local_bytes(const Actor& by, const Access& access) {
  const std::uint64_t room = by.x.program.local_bytes;
  return bytes_in(by, access, by.warp.local.data() + static_cast<std::size_t>(by.lane) * room, room,
                  "local memory + {}, which has {} bytes");
}

/// Locates shared bytes for a read or a write, which is recorded. Null: it is not possible.
std::uint8_t* shared_bytes(const Actor& by, const Access& access, bool reads) {
  const SharedPlace place = check_shared(by, access);
  if (!place || (!reads && !keeps_mbarriers(by, place, access.bytes))) {
    return nullptr;
  }
  if (by.x.setup.checks.race) {
    SharedMemory& shared = place.block->shared;
    report_shared(by,
                  reads ? shared.note_read(by.accessor(), place.offset, access.bytes)
                        : shared.note_write(by.accessor(), place.offset, access.bytes),
                  reads ? kReadsShared : kWritesShared);
  }
  return place.data();
}

/// Names a thread: "thread 5 (warp 0)", or with its block if it may be in another one.
std::string thread_name(const Execution& x, GlobalEpoch other) {
  const Epoch epoch = other.epoch();
  if (other.cluster() == x.cluster) {
    return thread_name(x, epoch);
  }
  const std::size_t warps = x.warps.size() / x.blocks.size();
  const std::size_t index = epoch.agent() % warps;
  const std::uint32_t block = block_at(x.setup, other.cluster());
  const std::string where =
      x.blocks.size() == 1
          ? fmt::format("block {}", block)
          : fmt::format("block rank {} of the cluster of block {}", epoch.agent() / warps, block);
  return fmt::format("thread {} of {}", index * kLanes + static_cast<std::size_t>(epoch.lane()),
                     where);
}

/// The other access as findings name it. Empty if ends are not kept. `cluster`: of the access.
std::optional<OtherAccess> other_access(const Execution& x, const std::optional<AccessEnd>& end,
                                        std::uint32_t cluster) {
  if (!end || end->instruction == nullptr) {
    return std::nullopt;
  }
  const std::size_t warps = x.warps.size() / x.blocks.size();
  const auto in_block = static_cast<std::uint32_t>(end->agent % warps);
  const auto rank = static_cast<std::uint32_t>(end->agent % x.warps.size() / warps);
  return OtherAccess{end->kind, x.index_of(*end->instruction), block_at(x.setup, cluster, rank),
                     in_block * kLanes + end->lane};
}

void note_global(const Actor& by, const Allocation& allocation, std::uint64_t offset,
                 std::uint32_t bytes, bool reads) {
  const GlobalAccessor who{by.x.cluster, by.accessor()};
  const std::size_t index = by.x.global.index_of(allocation);
  const std::size_t size = allocation.bytes.size();
  const auto race = by.x.launch.shadow.note(who, index, size, offset, bytes, !reads);
  if (race) {
    by.report(FindingKind::race, [&] {
      const std::string where = by.x.global.describe(allocation.address + race->offset);
      return FindingWords{
          fmt::format("{} {}, which {} {}, with no synchronisation in between",
                      reads ? "reads" : "writes", where, thread_name(by.x, race->other),
                      race->other_writes ? "writes" : "reads"),
          where, reads ? AccessKind::read : AccessKind::write,
          other_access(by.x, race->by, race->other.cluster())};
    });
  }
}

/// Locates bytes in any space but that of parameters. Null: it is not possible.
std::uint8_t* writable_bytes(const Actor& by, const Access& access, bool reads) {
  switch (access.space) {
    case Space::shared:
    case Space::shared_cluster:
      return shared_bytes(by, access, reads);
    case Space::local:
      return local_bytes(by, access);
    default:
      return check_global(by, access, reads);
  }
}

/// The location at a global address. Knowledge that another cluster has left there is identified by
/// that cluster's number.
StrongLocation& global_location(Execution& x, std::uint64_t address) {
  const auto [found, is_new] = x.launch.locations.try_emplace(address);
  StrongLocation& location = found->second;
  if (!is_new && location.cluster != x.cluster) {
    location.accessed.change_cluster(location.cluster, x.cluster);
    location.released.change_cluster(location.cluster, x.cluster);
  }
  location.cluster = x.cluster;
  return location;
}

StrongLocation& location_of(Execution& x, const Warp& warp, const Access& access) {
  const Space space =
      access.space == Space::generic ? space_of_generic(access.address) : access.space;
  if (space != Space::shared && space != Space::shared_cluster) {
    return global_location(x, access.address);
  }
  const ClusterAddress address = cluster_address_of(warp, access.address);
  return x.strong_locations[{address.rank, address.own}];
}

}  // namespace

void report_fault(const Actor& by, const SharedFault& fault, const SharedUse& use) {
  if (fault.kind == SharedFault::Kind::uninitialised && !by.x.setup.checks.init) {
    return;
  }
  const FindingKind kind = is_copy(by.x, fault) ? FindingKind::in_flight : kind_of(fault.kind);
  by.report(kind, [&] {
    const std::string where = shared_name(by.x, fault.offset);
    return FindingWords{describe(by.x, fault, use.doing, where), where, use.access,
                        other_access(by.x, fault.by, by.x.cluster)};
  });
}

bool keeps_mbarriers(const Actor& by, const SharedPlace& place, std::uint32_t bytes) {
  const Mbarriers& mbarriers = place.block->mbarriers;
  if (mbarriers.empty() || mbarriers.overlapping(place.offset, bytes) == nullptr) {
    return true;
  }
  by.report(FindingKind::barrier_misuse, [&] {
    return fmt::format("writes {}, which holds an mbarrier", shared_name(by.x, place.offset));
  });
  return false;
}

SharedPlace check_shared(const Actor& by, const Access& access) {
  if (!aligned(by, access)) {
    return {};
  }
  const std::uint64_t own = access.address & ((std::uint64_t{1} << kRankShift) - 1);
  const std::uint64_t rank = access.address >> kRankShift;
  const auto fault = [&](const std::string& where) {
    out_of_bounds(by, access, where);
    return SharedPlace{};
  };
  if (rank > by.x.blocks.size() || own < kSharedBase ||
      (rank != 0 && access.space != Space::shared_cluster && rank - 1 != by.warp.block)) {
    return fault(fmt::format("shared address {:#x}, which is not in {}", access.address,
                             by.x.blocks.size() == 1 ? "the block's memory" : "this space"));
  }
  Block& block = by.x.blocks[rank == 0 ? by.warp.block : rank - 1];
  const auto offset = static_cast<std::uint32_t>(own) - kSharedBase;
  if (!block.shared.holds(offset, access.bytes)) {
    return fault(
        fmt::format("{}, which has {} bytes", shared_name(by.x, offset), block.shared.size()));
  }
  if (block.rank != by.warp.block && by.x.threads_alive(block) == 0) {
    return fault(
        fmt::format("{} of block rank {}, which has ended", shared_name(by.x, offset), block.rank));
  }
  return {&block, offset};
}

std::uint8_t* check_global(const Actor& by, const Access& access, bool reads) {
  if (!aligned(by, access)) {
    return nullptr;
  }
  Allocation* const allocation = by.x.global.find(access.address, access.bytes);
  if (allocation == nullptr) {
    out_of_bounds(by, access, by.x.global.describe(access.address));
    return nullptr;
  }
  const std::uint64_t offset = access.address - allocation->address;
  if (!allocation->initialised.empty()) {
    const auto from = allocation->initialised.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto to = from + static_cast<std::ptrdiff_t>(access.bytes);
    if (!reads) {
      std::fill(from, to, std::uint8_t{1});
    } else if (by.x.setup.checks.init && std::find(from, to, 0) != to) {
      by.report(FindingKind::uninitialised, [&] {
        const std::string where = by.x.global.describe(access.address);
        return FindingWords{fmt::format("reads {}, which no thread has written", where), where,
                            AccessKind::read};
      });
    }
  }
  if (by.x.setup.checks.race) {
    note_global(by, *allocation, offset, access.bytes, reads);
  }
  return allocation->bytes.data() + offset;
}

void read_memory(const Actor& by, const Access& asked, void* to) {
  const Access access = resolved(asked);
  const std::uint8_t* const from =
      access.space == Space::parameter
          ? bytes_in(by, access, by.x.setup.parameters.data(), by.x.setup.parameters.size(),
                     "parameters + {}, which have {} bytes")
          : writable_bytes(by, access, true);
  if (from != nullptr) {
    std::memcpy(to, from, access.bytes);
  } else {
    std::memset(to, 0, access.bytes);
  }
}

void write_memory(const Actor& by, const Access& asked, const void* from) {
  const Access access = resolved(asked);
  if (access.space == Space::parameter) {
    out_of_bounds(by, access, "the kernel's parameters: not writable");
  } else if (std::uint8_t* const to = writable_bytes(by, access, false)) {
    std::memcpy(to, from, access.bytes);
  }
}

MbarrierPlace find_mbarrier(const Actor& by, std::uint64_t address, Space space) {
  const SharedPlace place = check_shared(by, {space, address, Mbarrier::kBytes, Mbarrier::kBytes});
  if (!place) {
    by.x.end_by_trap();
    return {};
  }
  Mbarrier* const mbarrier = place.block->mbarriers.find(place.offset);
  if (mbarrier == nullptr) {
    report_misuse(by, fmt::format("there is no mbarrier at shared memory + {}", place.offset));
    return {};
  }
  if (by.x.setup.checks.race && !by.accessor().follows(mbarrier->initialiser())) {
    by.report(FindingKind::race, [&] {
      const std::string where = fmt::format("shared memory + {}", place.offset);
      return FindingWords{
          fmt::format("uses the mbarrier at {}, which another thread initialises, "
                      "with no synchronisation in between",
                      where),
          where, AccessKind::write,
          other_access(by.x, place.block->shared.writer(place.offset), by.x.cluster)};
    });
  }
  return {mbarrier, place};
}

void report_misuse(const Actor& by, const MbarrierFault& fault) {
  if (!fault.empty()) {
    by.report(FindingKind::barrier_misuse, [&] { return fault; });
    by.x.end_by_trap();
  }
}

StrongAccess::StrongAccess(const Step& step, const Access& access, MemoryOrder order)
    : warp_(step.warp), order_(order) {
  if (!step.x.setup.checks.race) {
    return;
  }
  location_ = &location_of(step.x, warp_, access);
  // Another lane of this warp may just have accessed the location. This access is later than that.
  if (location_->accessed.of(warp_.agent) == warp_.clock.seen.of(warp_.agent)) {
    warp_.advance();
  }
  known_ = warp_.clock.seen;
  own_ = known_.of(warp_.agent);
  warp_.clock.seen.join(location_->accessed);
}

StrongAccess::~StrongAccess() {
  if (location_ != nullptr) {
    warp_.clock.seen = std::move(known_);
    location_->accessed.set(warp_.agent, own_);
  }
}

void StrongAccess::reads() {
  if (location_ == nullptr) {
    return;
  }
  warp_.fences.acquired.join(location_->released);
  if (order_.acquires) {
    known_.join(location_->released.seen);
    warp_.clock.fenced.join(location_->released.fenced);
  }
}

void StrongAccess::writes() {
  if (location_ == nullptr) {
    return;
  }
  location_->released.join(warp_.fences.released);
  location_->released.seen.join(warp_.clock.published);
  if (order_.releases) {
    location_->released.seen.join(known_);
    location_->released.fenced.join(warp_.clock.fenced);
    // Later accesses of this warp have not been passed on.
    known_.set(warp_.agent, own_ + 1);
  }
}

void order_by_fence(Warp& warp) {
  warp.clock.join(warp.fences.acquired);
  warp.clock.published.join(warp.clock.seen);
  warp.fences.released.join(warp.clock);
  warp.advance();
}

}  // namespace fatune::emulate

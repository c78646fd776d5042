#include "emulator/memory/clocks.hpp"

#include <utility>

#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

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

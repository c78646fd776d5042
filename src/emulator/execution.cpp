#include "emulator/execution.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace fatune::emulate {
namespace {

using Extent = std::array<std::uint32_t, 3>;

constexpr std::uint32_t volume(const Extent& extent) { return extent[0] * extent[1] * extent[2]; }

int warps_of_block(const LaunchSetup& setup) {
  return static_cast<int>((volume(setup.block) + kLanes - 1) / kLanes);
}

constexpr std::uint32_t coordinate(std::uint32_t linear, const Extent& extent, std::size_t axis) {
  return axis == 0   ? linear % extent[0]
         : axis == 1 ? linear / extent[0] % extent[1]
                     : linear / extent[0] / extent[1];
}

/// The number of clusters along each axis of the grid.
Extent clusters_of(const LaunchSetup& setup) {
  return {setup.grid[0] / setup.cluster[0], setup.grid[1] / setup.cluster[1],
          setup.grid[2] / setup.cluster[2]};
}

/// The position of a block in the grid.
struct Place {
  std::uint32_t cluster = 0;  ///< linear
  std::uint32_t rank = 0;     ///< the block's rank in the cluster

  [[nodiscard]] std::uint32_t along(const LaunchSetup& setup, std::size_t axis) const {
    return coordinate(cluster, clusters_of(setup), axis) * setup.cluster[axis] +
           coordinate(rank, setup.cluster, axis);
  }
  [[nodiscard]] std::uint32_t linear(const LaunchSetup& setup) const {
    return along(setup, 0) + setup.grid[0] * (along(setup, 1) + setup.grid[1] * along(setup, 2));
  }
};

void fill_special_registers(const Program& program, const LaunchSetup& setup, const Place& place,
                            const Warp& warp) {
  const auto set_lanes = [&](std::uint32_t which, auto value) {
    auto* const to =
        warp.registers.at<std::uint32_t>(program.special_registers + which * kLanes * 4);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      to[lane] = value(lane);
    }
  };
  const auto set = [&](std::uint32_t which, std::uint32_t value) {
    set_lanes(which, [value](std::uint32_t) { return value; });
  };
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    set_lanes(special_register("tid") + axis, [&](std::uint32_t lane) {
      return coordinate(static_cast<std::uint32_t>(warp.index * kLanes) + lane, setup.block, axis);
    });
    set(special_register("ntid") + axis, setup.block[axis]);
    set(special_register("ctaid") + axis, place.along(setup, axis));
    set(special_register("nctaid") + axis, setup.grid[axis]);
    set(special_register("clusterid") + axis, coordinate(place.cluster, clusters_of(setup), axis));
    set(special_register("nclusterid") + axis, clusters_of(setup)[axis]);
    set(special_register("cluster_ctaid") + axis, coordinate(place.rank, setup.cluster, axis));
    set(special_register("cluster_nctaid") + axis, setup.cluster[axis]);
  }
  set_lanes(special_register("laneid"), [](std::uint32_t lane) { return lane; });
  set_lanes(special_register("lanemask_eq"), [](std::uint32_t lane) { return 1U << lane; });
  set_lanes(special_register("lanemask_le"), [](std::uint32_t lane) { return (2U << lane) - 1; });
  set_lanes(special_register("lanemask_lt"), [](std::uint32_t lane) { return (1U << lane) - 1; });
  set_lanes(special_register("lanemask_ge"), [](std::uint32_t lane) { return ~0U << lane; });
  set_lanes(special_register("lanemask_gt"), [](std::uint32_t lane) { return ~1U << lane; });
  set(special_register("warpid"), static_cast<std::uint32_t>(warp.index));
  set(special_register("nwarpid"), static_cast<std::uint32_t>(warps_of_block(setup)));
  set(special_register("dynamic_smem_size"), setup.dynamic_smem_bytes);
  set(special_register("total_smem_size"),
      program.dynamic_shared_offset + setup.dynamic_smem_bytes);
  set(special_register("cluster_ctarank"), place.rank);
  set(special_register("cluster_nctarank"), volume(setup.cluster));
}

/// The registers that a thread has when the kernel begins. PTX does not say how many a kernel is
/// launched with. This is the most that the block's threads can have, so that a wait for more
/// (setmaxnreg: PTX ISA 9.0, section 9.7.19.5) which never ends here never ends on a GPU either.
std::uint32_t registers_of_thread(std::uint32_t threads) {
  constexpr std::uint32_t kRegistersOfSm = 65536;
  constexpr std::uint32_t kMostOfThread = 255;
  constexpr std::uint32_t kUnit = 8;
  const std::uint32_t share = kRegistersOfSm / std::max(threads, 1U);
  return std::min(share / kUnit * kUnit, kMostOfThread);
}

Warp make_warp(const Program& program, const LaunchSetup& setup, const Place& place, int index) {
  Warp warp;
  warp.index = index;
  warp.block = place.rank;
  warp.agent = place.rank * static_cast<Agent>(warps_of_block(setup)) + static_cast<Agent>(index);
  const std::uint32_t threads = volume(setup.block) - static_cast<std::uint32_t>(index * kLanes);
  warp.alive = threads >= kLanes ? kAllLanes : (Mask{1} << threads) - 1;
  warp.registers = LaneStorage(program.register_bytes);
  warp.predicates.resize(program.predicates);
  warp.watched.resize(program.watched_names.size());
  warp.groups.push_back({0, warp.alive, Group::State::runnable, 0});
  warp.local.resize(std::size_t{program.local_bytes} * kLanes);
  warp.clock.seen.set(warp.agent, 1);
  warp.registers_of_thread = registers_of_thread(volume(setup.block));
  fill_special_registers(program, setup, place, warp);
  return warp;
}

/// The number of lanes in these masks of the warps.
std::uint32_t lanes_in(std::span<const Warp> warps, Mask Warp::*mask) {
  std::uint32_t count = 0;
  for (const Warp& warp : warps) {
    count += static_cast<std::uint32_t>(std::popcount(warp.*mask));
  }
  return count;
}

}  // namespace

std::uint32_t cluster_count(const LaunchSetup& setup) { return volume(clusters_of(setup)); }

std::uint32_t block_at(const LaunchSetup& setup, std::uint32_t cluster, std::uint32_t rank) {
  return Place{cluster, rank}.linear(setup);
}

Execution::Execution(LaunchState& the_launch, std::uint32_t the_cluster)
    : program(the_launch.program),
      global(the_launch.global),
      setup(the_launch.setup),
      result(the_launch.result),
      launch(the_launch),
      cluster(the_cluster),
      random(setup.schedule.seed * 0x9e3779b97f4a7c15U + the_cluster) {
  const std::uint32_t ranks = volume(setup.cluster);
  const int warps_each = warps_of_block(setup);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Place place{cluster, rank};
    blocks.push_back(
        {place.linear(setup), rank,
         SharedMemory(std::size_t{program.dynamic_shared_offset} + setup.dynamic_smem_bytes,
                      std::size_t{2} * static_cast<std::size_t>(warps_each) * ranks)});
    if (setup.checks.both_ends) {
      blocks.back().shared.keep_ends();
    }
    for (int i = 0; i < warps_each; ++i) {
      warps.push_back(make_warp(program, setup, place, i));
    }
  }
  agents = static_cast<Agent>(2 * warps.size());
}

std::uint32_t Execution::threads_alive(const Block& block) {
  return lanes_in(warps_of(block), &Warp::alive);
}

void Execution::complete_cluster_barrier() {
  const auto all_arrived = [](const Warp& warp) {
    return (warp.alive & ~warp.cluster_arrived) == 0;
  };
  if (arrived_at_cluster() == 0 || !std::ranges::all_of(warps, all_arrived)) {
    return;
  }
  for (Warp& warp : warps) {
    warp.cluster_arrived = 0;
  }
  cluster_barrier.completed = std::exchange(cluster_barrier.joined, {});
  note_progress();
}

std::uint32_t Execution::arrived_at_cluster() const {
  return lanes_in(warps, &Warp::cluster_arrived);
}

void Execution::end_at_limit(std::string_view what, std::uint64_t limit) {
  if (result.limit.empty()) {
    result.limit =
        fmt::format("the launch has more than {} {}, the most that are emulated", limit, what);
  }
  end_by_trap();
}

bool Execution::any_alive() const {
  return std::ranges::any_of(warps, [](const Warp& warp) { return warp.alive != 0; });
}

}  // namespace fatune::emulate

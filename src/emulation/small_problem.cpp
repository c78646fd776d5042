#include "emulation/small_problem.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "emulation/planned_launch.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

// More than one, so that the row stride differs from the length of a row.
constexpr std::int64_t kFewHeads = 2;

/// Returns the problem with at most `heads` query heads, in groups of the same size if possible.
Problem with_heads(const Problem& problem, std::int64_t heads) {
  const std::int64_t group = std::min(group_size(problem), heads);
  Problem fewer = problem;
  fewer.heads = heads / group * group;
  fewer.kv_heads = fewer.heads / group;
  return fewer;
}

/// Makes the launches of one configuration.
class SmallLaunches {
 public:
  SmallLaunches(const Family& family, const Config& config, const Problem& problem,
                const DeviceLimits& limits)
      : family_(family),
        config_(config),
        limits_(limits),
        key_(artifact_key(request_of(problem))),
        small_(small_problem(problem)) {}
  /// Makes launches on `small` itself, whatever its length, and compares their code with `like`.
  SmallLaunches(const Family& family, const Config& config, const SmallLaunch& like,
                const Problem& small, const DeviceLimits& limits)
      : family_(family),
        config_(config),
        limits_(limits),
        key_(artifact_key(like.request)),
        small_(small) {}

  [[nodiscard]] std::vector<SmallLaunch> make() const {
    std::vector<SmallLaunch> launches;
    if (auto one = one_head()) {
      launches.push_back(*std::move(one));
    }
    const Problem few = with_heads(small_, std::min(small_.heads, kFewHeads));
    if (auto all = all_blocks(few)) {
      launches.push_back(*std::move(all));
    }
    return launches;
  }

  [[nodiscard]] std::optional<SmallLaunch> one_head() const {
    if (small_.heads == 1 || !possible(small_)) {
      return std::nullopt;
    }
    SmallLaunch small = launch_of(small_);
    const auto blocks = blocks_of_last_head(small.launch.geometry);
    if (!small.same_code || !blocks) {
      return std::nullopt;
    }
    small.launch.on.only_head = small_.heads - 1;
    small.launch.blocks = *blocks;
    return small;
  }

  [[nodiscard]] std::optional<SmallLaunch> all_blocks(const Problem& problem) const {
    return possible(problem) ? std::optional(launch_of(problem)) : std::nullopt;
  }

 private:
  [[nodiscard]] CompileRequest request_of(const Problem& problem) const {
    return compile_request(family_, config_, problem, limits_.arch, limits_);
  }
  [[nodiscard]] bool possible(const Problem& problem) const {
    return !check_valid(family_, config_, &problem, &limits_) &&
           !check_limits(family_, config_, problem, limits_);
  }

  [[nodiscard]] SmallLaunch launch_of(const Problem& problem) const {
    SmallLaunch small;
    small.launch = planned_launch(family_, config_, problem, limits_);
    small.request = request_of(problem);
    small.same_code = artifact_key(small.request) == key_;
    return small;
  }

  /// Returns the last part of the grid, if its length along one axis is proportional to the number
  /// of heads, and nothing else in it depends on them. Running these blocks shows whether they are
  /// those of the last head.
  [[nodiscard]] std::optional<BlockBox> blocks_of_last_head(const LaunchGeometry& all) const {
    const auto of_one = grid_of_one_head();
    if (!of_one) {
      return std::nullopt;
    }
    BlockBox box;
    box.extent = *of_one;
    int axes = 0;
    for (std::size_t axis = 0; axis < box.extent.size(); ++axis) {
      if (all.grid[axis] == box.extent[axis]) {
        continue;
      }
      if (all.grid[axis] != small_.heads * box.extent[axis]) {
        return std::nullopt;
      }
      box.first[axis] = all.grid[axis] - box.extent[axis];
      ++axes;
    }
    return axes == 1 ? std::optional(box) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::array<std::int64_t, 3>> grid_of_one_head() const {
    const Problem one = with_heads(small_, 1);
    try {
      return launch_geometry(family_, config_, one, limits_).grid;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  const Family& family_;
  const Config& config_;
  const DeviceLimits& limits_;
  std::string key_;
  Problem small_;
};

}  // namespace

std::vector<SmallLaunch> small_launches(const Family& family, const Config& config,
                                        const Problem& problem, const DeviceLimits& limits) {
  return SmallLaunches(family, config, problem, limits).make();
}

std::optional<EmulatedLaunch> longer_launch(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& limits,
                                            const SmallLaunch& small) {
  Problem longer = small.launch.on.problem;
  if (problem.seq_len == longer.seq_len && problem.seq_len_kv == longer.seq_len_kv) {
    return std::nullopt;
  }
  longer.seq_len += kShortLength;
  longer.seq_len_kv += kShortLength;
  const SmallLaunches launches(family, config, small, longer, limits);
  const auto found = small.launch.on.only_head ? launches.one_head() : launches.all_blocks(longer);
  return found && found->same_code ? std::optional(found->launch) : std::nullopt;
}

}  // namespace fatune

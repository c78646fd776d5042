#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attention/block_tiles.hpp"
#include "attention/problem.hpp"
#include "core/arch.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "core/shared_tensor.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"

namespace fatune {

/// The problems' values for the parameters that are bound to the problem (dtype, d_head). Empty:
/// as the space has them. Otherwise each part of the space gives, for every value asked for, its
/// own configurations of that value or, where it has none, all of them with the value put in.
struct Binding {
  std::vector<DType> dtypes;
  std::vector<std::int64_t> d_heads;
};

struct DroppedConfig {
  Config config;
  Outcome outcome;  ///< Pruned (by the space) or Invalid (by the family)
};

/// Configurations that were dropped for one reason and are not listed.
struct DropCount {
  Config example;  ///< has the values for the parameters that are bound to the problem
  std::string rule;
  bool pruned = true;  ///< by the space; else by the family
  std::int64_t count = 0;
};

/// Both lists are in the documented order (by parameter values) and without duplicates; a
/// configuration that one part keeps and another drops is kept.
struct Plan {
  std::vector<Config> kept;
  std::vector<DroppedConfig> dropped;
  /// The parts of the space, as far as they were asked for; empty when no rule of theirs waits for
  /// a problem or a device.
  std::vector<SpacePart> waiting{};
  /// Of spaces that would not fit into memory both lists are random samples of kMostPlanned; these
  /// count the others.
  std::int64_t kept_besides = 0;
  std::vector<DropCount> dropped_besides{};
};

inline constexpr std::size_t kMostPlanned = std::size_t{1} << 18;

/// Applies the space's rules that parameters alone decide (the first that matches is named), then
/// the family's validity. `most`: of both lists.
[[nodiscard]] Plan make_plan(const Family& family, const Space& space, const Binding& binding = {},
                             std::size_t most = kMostPlanned);

/// The verdict on a kept configuration of the rules that wait for a problem and a device: Pruned
/// when each part that keeps it has a rule that matches.
[[nodiscard]] std::optional<Pruned> prune_on(const Family& family, const Plan& plan,
                                             const Config& config, const Problem& problem,
                                             const DeviceLimits& limits);

/// Invalid::rule of a value that the kernel does not know.
inline constexpr const char* kUnderstoodValues = "understood-values";

/// The reasons for which values of dropped configurations are not known to the kernel, each once,
/// in order: which value, and which ones are known.
[[nodiscard]] std::vector<std::string> unknown_values(const Plan& plan);

/// Why the family cannot build the configuration; nothing when it can. Checks values against
/// those the kernel understands, then the validity rules that need no more than is given, and
/// that bound parameters repeat the problem's values.
[[nodiscard]] std::optional<Invalid> check_valid(const Family& family, const Config& config,
                                                 const Problem* problem = nullptr,
                                                 const DeviceLimits* limits = nullptr);

/// Which limit of the device the configuration exceeds, with the figures: architecture, threads,
/// shared memory. Nothing when none. (Registers are known only after compilation.)
[[nodiscard]] std::optional<Unlaunchable> check_limits(const Family& family, const Config& config,
                                                       const Problem& problem,
                                                       const DeviceLimits& limits);

/// The request to compile. It is equal for problems that the machine code does not distinguish
/// (another batch, a length that is ragged in the same way), so that one artifact serves them all.
[[nodiscard]] CompileRequest compile_request(const Family& family, const Config& config,
                                             const Problem& problem, Arch arch,
                                             const DeviceLimits& limits);

/// The request for a kernel that writes its intermediates. Precondition: the family declares that.
[[nodiscard]] CompileRequest dump_request(const Family& family, const Config& config,
                                          const Problem& problem, Arch arch,
                                          const DeviceLimits& limits);

/// How the kernel cuts a head, as the family declares it; nothing when it does not.
/// Error(bad_file) when an expression gives an impossible extent.
[[nodiscard]] std::optional<BlockTiles> block_tiles(const Family& family, const Config& config);

/// `facts` are those of the machine code: without them one block is resident on an SM (symbol
/// resident_blocks_per_sm). Error(bad_file) when an expression of the family gives an impossible
/// grid, block or argument.
[[nodiscard]] LaunchGeometry launch_geometry(const Family& family, const Config& config,
                                             const Problem& problem, const DeviceLimits& limits,
                                             const ResourceFacts* facts = nullptr);

/// The tensors in a block's shared memory, as the family declares them; empty when it does not.
/// Error(bad_file) when an expression gives an impossible extent.
[[nodiscard]] std::vector<SharedTensor> shared_tensors(const Family& family, const Config& config,
                                                       const Problem& problem,
                                                       const DeviceLimits& limits);

/// A derived quantity by name, such as "total_flop" or "smem_bytes"; std::nullopt when the family
/// does not declare it.
[[nodiscard]] std::optional<double> find_quantity(const Family& family, const Config& config,
                                                  const Problem& problem,
                                                  const DeviceLimits& limits,
                                                  std::string_view name);
/// The value of a quantity; Error(bad_file) naming the family's quantities when it does not declare
/// it.
[[nodiscard]] double quantity(const Family& family, const Config& config, const Problem& problem,
                              const DeviceLimits& limits, std::string_view name);

}  // namespace fatune

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/head_problem.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/shared_tensor.hpp"
#include "plan/family.hpp"
#include "plan/space.hpp"

namespace fatune {

/// The problems' values for the parameters that are bound to the problem (dtype, d_head). Empty:
/// the space's own values, of dtype those of 16 bits if it has any. Otherwise each part of the
/// space gives, for every requested value, its own configurations with that value or, if it has
/// none, all of them with the value put in.
struct Binding {
  std::vector<DType> dtypes;
  std::vector<std::int64_t> d_heads;
  /// Of K and V: of 8 bits, or any of 16. Configurations for a Q of 8 bits have its type instead.
  DType kv_dtype = DType::fp16;
};

struct DroppedConfig {
  Config config;
  Outcome outcome;  ///< Pruned (by the space) or Invalid (by the family)
};

/// The number of configurations that were dropped for one reason and are not listed.
struct DropCount {
  Config example;  ///< one of them, with its values of the bound parameters
  std::string rule;
  bool pruned = true;  ///< dropped by the space; if not, by the family
  std::int64_t count = 0;
};

/// Both lists are ordered by parameter values and without duplicates; a
/// configuration that one part keeps and another drops is kept.
struct Plan {
  std::vector<Config> kept;
  std::vector<DroppedConfig> dropped;
  /// The parts of the space, restricted to the requested values. Empty if none of their rules needs
  /// more of a problem than the type of K and V, or a device.
  std::vector<SpacePart> waiting{};
  /// For spaces that would not fit into memory, both lists are random samples of kMostPlanned, and
  /// these members count the others.
  std::int64_t kept_besides = 0;
  std::vector<DropCount> dropped_besides{};
};

inline constexpr std::size_t kMostPlanned = std::size_t{1} << 18;

/// Applies the space's rules that need only parameters and the type of K and V (the outcome names
/// the first that matches), then the family's validity rules of that kind. `most`: the greatest
/// size of each list.
[[nodiscard]] Plan make_plan(const Family& family, const Space& space, const Binding& binding = {},
                             std::size_t most = kMostPlanned);

/// Applies the rules that need a problem or a device to a kept configuration. Returns Pruned if
/// each part that keeps the configuration has a rule that matches. The problem has K and V of the
/// type that the plan was made for.
[[nodiscard]] std::optional<Pruned> prune_on(const ConfigCase& of, const Plan& plan);

/// Invalid::rule for a value that the kernel does not understand.
inline constexpr const char* kUnderstoodValues = "understood-values";

/// The reasons, each once and in order, why the kernel does not understand values of dropped
/// configurations. Each says which value it is, and which ones are understood.
[[nodiscard]] std::vector<std::string> unknown_values(const Plan& plan);

/// Throws Error(nothing_ranked) for a plan that keeps nothing. It says whether the space's rules,
/// the family, or both dropped the configurations.
[[noreturn]] void fail_without_configs(const Family& family, const Space& space, const Plan& plan);

/// Returns why the family cannot build the configuration; nothing if it can. Checks that the kernel
/// understands the values, that bound parameters equal the problem's values, and the validity rules
/// that need no more than is given. kv_dtype: of K and V, where there is no problem
[[nodiscard]] std::optional<Invalid> check_valid(const Family& family, const Config& config,
                                                 const Problem* problem = nullptr,
                                                 const DeviceLimits* limits = nullptr,
                                                 std::optional<DType> kv_dtype = std::nullopt);

/// What is known when configurations are planned.
inline constexpr Needs kKnownInPlan{.kv_dtype = true};

/// Returns the limit of the device that the configuration exceeds, with the figures: architecture,
/// threads, shared memory. Does the same where a grid or an argument of the kernel cannot be as
/// large as the problem makes it. Nothing if there is none. (Registers are known only after
/// compilation.)
[[nodiscard]] std::optional<Unlaunchable> check_limits(const ConfigCase& of);

/// The request to compile a configuration. It is equal for problems that the machine code does not
/// distinguish (another batch, a length that is ragged in the same way), so one artifact serves
/// them all.
[[nodiscard]] CompileRequest compile_request(const ConfigCase& of);

/// The request for a kernel that writes its intermediates. Precondition: the family declares how.
[[nodiscard]] CompileRequest dump_request(const ConfigCase& of);

/// How the kernel cuts a head, as the family declares it; nothing if it does not. Throws
/// Error(bad_file) if an expression gives an impossible extent.
[[nodiscard]] std::optional<BlockTiles> block_tiles(const Family& family, const Config& config);

/// The lengths of the problem on which a kernel shows its intermediates, if no option names them.
struct DebugLengths {
  std::optional<std::int64_t> queries;
  std::optional<std::int64_t> keys;  ///< also of a problem whose number of queries is named
};
/// What the family declares of them. Throws Error(bad_file) as block_tiles().
[[nodiscard]] DebugLengths debug_lengths(const Family& family, const Config& config);

/// How to launch a configuration on a problem. `facts` are those of the machine code; without them
/// the symbol resident_blocks_per_sm is 1. Throws Error(bad_file) if an expression of the family
/// gives an impossible grid, block or argument; TooLargeProblem where the problem is the cause.
[[nodiscard]] LaunchGeometry launch_geometry(const ConfigCase& of,
                                             const ResourceFacts* facts = nullptr);

/// The head dimension of V and O that the family declares for a problem whose other head dimension
/// is the configuration's; nothing if it does not. Throws Error(bad_file) if an expression gives an
/// impossible one.
[[nodiscard]] std::optional<std::int64_t> usual_d_head_v(const Family& family,
                                                         const Config& config);
/// Whether problems whose head dimensions follow from a configuration are latent.
[[nodiscard]] bool usual_latent(const Family& family, const Config& config);

/// The tensors in a block's shared memory, as the family declares them; empty if it does not.
/// Throws Error(bad_file) if an expression gives an impossible extent.
[[nodiscard]] std::vector<SharedTensor> shared_tensors(const ConfigCase& of);

/// A derived quantity by name, such as "total_flop" or "smem_bytes"; std::nullopt when the family
/// does not declare it.
[[nodiscard]] std::optional<double> find_quantity(const ConfigCase& of, std::string_view name);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Adds the symbols of a problem and a device to the names of an expression. Problem: batch,
/// seq_len, heads, causal (0 or 1), keys_total and queries_total (of all sequences), the symbols of
/// model/problem.hpp, the tensors' strides in elements ("k_row_stride", also head_ and batch_,
/// of q, k, v and o), and dtype, d_head and d_head_v unless parameters have these names. Device:
/// arch (90 for sm_90a), sm_count, smem_per_sm_bytes, smem_per_block_optin_bytes, registers_per_sm,
/// max_threads_per_sm. Throws std::invalid_argument if a parameter has taken one of the other
/// names.
void add_environment_symbols(SymbolTable& symbols);

/// A value that is known once a configuration is compiled. Only launches and arguments use the
/// name, so it is added after all others, unless the family has a quantity of that name.
inline constexpr const char* kResidentBlocks = "resident_blocks_per_sm";
void add_occupancy_symbol(SymbolTable& symbols);

/// Values of all the family's symbols for one configuration. A value that needs a problem or device
/// that is not given (null) is NaN; Expression::needs tells which ones do. `kv_dtype` is the type
/// of K and V where there is no problem. Throws Error(bad_file) if a derived quantity is not
/// finite. Precondition: the configuration is of this family and has all its values.
[[nodiscard]] std::vector<double> make_scope(const Family& family, const Config& config,
                                             const Problem* problem, const DeviceLimits* limits,
                                             std::optional<DType> kv_dtype = std::nullopt);
[[nodiscard]] inline std::vector<double> make_scope(const ConfigCase& of) {
  return make_scope(of.family, of.config, &of.problem, &of.limits);
}

/// Whether a sweep over all families tries this one on the problem, as its "meant_for" says.
[[nodiscard]] bool is_meant_for(const Family& family, const Problem& problem);

/// Reads a name that expressions use. Throws Error(bad_file) if it is not an identifier.
[[nodiscard]] std::string read_identifier(const JsonNode& node);

/// Adds a name to those that expressions may use. Throws Error(bad_file) if it is taken.
std::size_t add_symbol(SymbolTable& symbols, const JsonNode& node, Needs needs);

/// Reads a list of quantities. Each may use those before it, and is added to `symbols`.
[[nodiscard]] std::vector<Derived> read_derived(const std::vector<JsonNode>& list,
                                                SymbolTable& symbols);

}  // namespace fatune

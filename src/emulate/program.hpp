#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "emulate/lane_storage.hpp"
#include "emulate/lanes.hpp"

namespace fatune::emulate {

class Execution;
struct Warp;
struct Instruction;

/// Carries an instruction out for the lanes of a mask, none of them empty.
using Handler = void (*)(Execution&, Warp&, const Instruction&, Mask);
/// Whether these lanes need not wait any more.
using Condition = bool (*)(Execution&, Warp&, const Instruction&, Mask);

/// The place of a value: an offset in bytes into the warp's registers, or into the program's
/// constants, which all warps share; both hold 32 lanes from there on. For a predicate: its index,
/// or, when it is constant, 0 or 1.
struct Operand {
  std::uint32_t offset = 0;
  bool constant = false;
  bool wide = false;     ///< of an address: it has 64 bits
  bool negated = false;  ///< of a condition: "!%p1"
};

/// The place of a result that is not needed: "_".
inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

/// The effect of an instruction on the control flow.
enum class Flow : std::uint8_t {
  next,     ///< nothing
  branch,   ///< to `target`, for the active lanes
  exit,     ///< the active lanes end
  gather,   ///< as next, once every lane that it needs is there: `members`
  poll,     ///< as next, once `condition` holds, or when waiting for it is in vain
  barrier,  ///< arrives at a CTA barrier; with `waits` it stays until the barrier completes
};

/// A decoded instruction: names are resolved and types chosen; the handler knows the rest.
struct Instruction {
  Handler handler = nullptr;
  const Operand* operands = nullptr;  ///< results first
  std::int32_t guard = -1;            ///< predicate; -1: none
  std::int32_t target = -1;           ///< of a branch
  std::uint32_t variant = 0;          ///< a number that the handler takes it for
  Condition condition = nullptr;      ///< Flow::poll
  Flow flow = Flow::next;
  bool guard_negated = false;
  bool leader = false;        ///< a label stands before it: groups of lanes may meet here
  bool waits = false;         ///< Flow::barrier; Flow::poll: it never gives up
  bool all_members = false;   ///< Flow::gather: the warp's lanes; else those of operand `members`;
                              ///< Flow::poll: the warp's lanes poll together
  bool is_product = false;    ///< wgmma.mma_async
  std::uint8_t members = 0;   ///< index of the operand that has the mask
  std::int32_t watched = -1;  ///< index into Program::watched_uses; -1: it touches none
  std::array<std::byte, 8> details{};  ///< what the handler has to know, in a type of its own

  template <typename T>
  void set_details(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(details));
    std::memcpy(details.data(), &value, sizeof(T));
  }
  /// Precondition: they were set as a T.
  template <typename T>
  [[nodiscard]] T details_as() const {
    T value;
    std::memcpy(&value, details.data(), sizeof(T));
    return value;
  }
};

/// A variable of the module in global or constant memory.
struct ModuleVariable {
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;  ///< its initial value
};

/// An instruction's uses of registers that products (wgmma) use, by their number.
struct WatchedUses {
  std::vector<std::uint16_t> reads;
  std::vector<std::uint16_t> writes;
  bool by_product = false;
  bool copies = false;  ///< a mov of the register or constant that is its operand 1
};

/// The memory that a kernel declares, and its cluster.
struct KernelNeeds {
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;
  std::uint32_t local_bytes = 0;  ///< of one thread
  std::uint32_t parameter_bytes = 0;
  /// Blocks of the cluster that the kernel is compiled for (.reqnctapercluster, which is what
  /// __cluster_dims__ becomes); absent: the launch says.
  std::optional<std::array<std::uint32_t, 3>> cluster;
  std::vector<ModuleVariable> variables;  ///< global and constant
};

/// A kernel, ready to be run. Owns what its instructions point to: not to be copied.
struct Program : KernelNeeds {
  std::string kernel;
  std::vector<Instruction> instructions;
  std::vector<std::size_t> statements;  ///< by instruction: index into the function's statements
  std::vector<std::int64_t> lines;      ///< by instruction: of the PTX
  std::vector<Operand> operand_pool;
  LaneStorage constants;
  std::uint32_t register_bytes = 0;  ///< of one warp
  std::uint32_t predicates = 0;
  std::uint32_t special_registers = 0;     ///< offset of the first: see special_register
  std::vector<std::string> watched_names;  ///< registers that products use
  std::vector<WatchedUses> watched_uses;
};

static_assert(!std::is_copy_constructible_v<Program>);

/// Registers that a warp has filled when it starts: first those with .x, .y and .z, then others.
inline constexpr std::array<std::string_view, 8> kSpecialTriples{
    "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"};
inline constexpr std::array<std::string_view, 14> kSpecialSingles{
    "laneid",      "warpid",      "nwarpid",         "lanemask_eq",       "lanemask_le",
    "lanemask_lt", "lanemask_ge", "lanemask_gt",     "dynamic_smem_size", "total_smem_size",
    "smid",        "gridid",      "cluster_ctarank", "cluster_nctarank"};

/// The number of the register of that name, or of the first of three.
consteval std::uint32_t special_register(std::string_view name) {
  for (std::uint32_t i = 0; i < kSpecialTriples.size(); ++i) {
    if (kSpecialTriples[i] == name) {
      return 3 * i;
    }
  }
  for (std::uint32_t i = 0; i < kSpecialSingles.size(); ++i) {
    if (kSpecialSingles[i] == name) {
      return 3 * static_cast<std::uint32_t>(kSpecialTriples.size()) + i;
    }
  }
  throw std::invalid_argument("there is no such register");
}

}  // namespace fatune::emulate

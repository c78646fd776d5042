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

#include "emulator/lanes.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune::emulate {

struct Step;

/// Executes an instruction for the lanes of a step. Precondition: there are some.
using Handler = void (*)(const Step&);
/// Returns true if these lanes need not wait any longer.
using Condition = bool (*)(const Step&);

/// The location of a value: a byte offset into the warp's registers, or into the program's
/// constants, which all warps share. Both hold 32 lanes from that offset on. For a predicate, the
/// offset is its index; for a constant predicate, it is 0 or 1.
struct Operand {
  std::uint32_t offset = 0;
  bool constant = false;
  bool wide = false;     ///< an address has 64 bits
  bool negated = false;  ///< a condition is negated: "!%p1"
};

/// The offset of a result that is discarded: "_".
inline constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

/// The effect of an instruction on the control flow.
enum class Flow : std::uint8_t {
  next,     ///< continues with the next instruction
  branch,   ///< the active lanes go to `target`
  exit,     ///< the active lanes end
  gather,   ///< like next, once all lanes that take part (`members`) have arrived
  poll,     ///< like next, once `condition` holds or can no longer become true
  barrier,  ///< arrives at a CTA barrier; with `waits`, waits until the barrier completes
};

/// What an instruction of Flow::poll waits for.
enum class Awaited : std::uint8_t { mbarrier, cluster, products, registers };

/// A decoded instruction. Names are resolved and types are chosen. The handler knows the rest.
struct Instruction {
  Handler handler = nullptr;
  const Operand* operands = nullptr;  ///< results first
  std::int32_t guard = -1;            ///< predicate; -1: none
  std::int32_t target = -1;       ///< a branch's destination: an index into Program::instructions
  std::uint32_t variant = 0;      ///< a number that the handler interprets
  Condition condition = nullptr;  ///< Flow::poll
  Flow flow = Flow::next;
  Awaited awaited = Awaited::mbarrier;
  bool guard_negated = false;
  bool leader = false;        ///< a label stands before it: groups of lanes may meet here
  bool waits = false;         ///< Flow::barrier: until it completes; Flow::poll: never gives up
  bool all_members = false;   ///< Flow::gather: the warp's lanes; else those of operand `members`;
                              ///< Flow::poll: the warp's lanes poll together
  bool is_product = false;    ///< wgmma.mma_async
  std::uint8_t members = 0;   ///< index of the operand that has the mask
  std::int32_t watched = -1;  ///< index into Program::watched_uses; -1: it touches none
  std::array<std::byte, 8> details{};  ///< data for the handler, of a type that it chooses

  template <typename T>
  void set_details(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(details));
    std::memcpy(details.data(), &value, sizeof(T));
  }
  /// Precondition: the details were set as a T.
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

/// The numbers of the registers of products (wgmma) that an instruction uses.
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
  std::uint32_t local_bytes = 0;  ///< local memory of each thread
  std::uint32_t parameter_bytes = 0;
  /// The cluster size in blocks that the kernel is compiled for (.reqnctapercluster, which
  /// __cluster_dims__ generates); absent: the launch sets it.
  std::optional<std::array<std::uint32_t, 3>> cluster;
  std::vector<ModuleVariable> variables;  ///< global and constant
};

/// A kernel that is ready to run. Owns what its instructions point to, hence not copyable.
struct Program : KernelNeeds {
  std::string kernel;
  std::vector<Instruction> instructions;
  std::vector<std::size_t> statements;  ///< the statement that gave each instruction
  std::vector<std::int64_t> lines;      ///< the PTX line of each instruction
  std::vector<Operand> operand_pool;
  LaneStorage constants;
  std::uint32_t register_bytes = 0;  ///< the registers of one warp
  std::uint32_t predicates = 0;
  std::uint32_t special_registers = 0;     ///< offset of the first: see special_register
  std::vector<std::string> watched_names;  ///< registers that products use
  std::vector<WatchedUses> watched_uses;
};

static_assert(!std::is_copy_constructible_v<Program>);

/// Special registers, which are filled when a warp starts. Those with .x, .y and .z come first.
inline constexpr std::array<std::string_view, 8> kSpecialTriples{
    "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"};
inline constexpr std::array<std::string_view, 14> kSpecialSingles{
    "laneid",      "warpid",      "nwarpid",         "lanemask_eq",       "lanemask_le",
    "lanemask_lt", "lanemask_ge", "lanemask_gt",     "dynamic_smem_size", "total_smem_size",
    "smid",        "gridid",      "cluster_ctarank", "cluster_nctarank"};

/// The number of the special register with this name; for a triple, that of its .x.
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

/// Resolves every name and type of a kernel's instructions. Throws Error(bad_file), naming the
/// opcode, the line and `origin`, for anything that the emulator does not cover, and Error(usage)
/// if the module has no such kernel.
[[nodiscard]] Program decode_program(const PtxModule& module, const std::string& kernel,
                                     const std::string& origin);

}  // namespace fatune::emulate

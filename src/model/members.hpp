#pragma once

#include <optional>
#include <type_traits>

#include "base/members.hpp"
#include "model/emulation.hpp"
#include "model/head_problem.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"

// The lists of members of structs that have none beside them, and how lists are told apart.
namespace fatune {

/// The properties of a problem besides the members below, from model/problem.hpp.
template <typename Self>
struct ProblemDetails {
  Self& problem;
};

template <Is<Problem> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  visit(MemberInfo{"batch", "number of sequences per launch"}, self.batch);
  visit(MemberInfo{"seq_len", "number of queries in a sequence"}, self.seq_len);
  visit(MemberInfo{"heads", "number of attention heads"}, self.heads);
  visit(MemberInfo{"d_head", "head dimension"}, self.d_head);
  visit(MemberInfo{"dtype", "element type of Q; O has it too, or BF16 where it is E4M3"},
        self.dtype);
  visit(MemberInfo{"causal", "whether a query sees only keys up to its own position"}, self.causal);
  if constexpr (!std::is_const_v<Self>) {
    self = usual_problem(self);  // with the usual details for what was just read
  }
  ProblemDetails<Self> details{self};
  visit(FlatMember{}, details);
}

FATUNE_MEMBERS(CountedWork, tensor_flop, warpgroup_flop, special_functions, fp32_operations,
               integer_operations, warp_instructions, smem_traffic_bytes, global_sectors)
FATUNE_MEMBERS(ScalarPiece, offset, bytes, bits, type)
FATUNE_MEMBERS(AddressPiece, offset, tensor, byte_offset)
FATUNE_MEMBERS(TensorMapPiece, offset, tensor, byte_offset, element_type, sizes, strides_bytes, box,
               element_strides, swizzle, interleave, l2_promotion, oob_fill)
FATUNE_MEMBERS(KernelArgument, pointer, bytes, alignment, scalars, addresses, tensor_maps)
FATUNE_MEMBERS(KernelBuffer, name, bytes, word, clear, output, element_type, shape)
FATUNE_MEMBERS(KernelArguments, standard, list, buffers)
FATUNE_MEMBERS(LaunchAttributes, cooperative, programmatic_stream_serialization,
               smem_carveout_percent)
FATUNE_MEMBERS(LaunchGeometry, grid, block, dynamic_smem_bytes, cluster, attributes, arguments)
FATUNE_MEMBERS(DumpExtents, rows, keys, kv_tiles)

struct IgnoreMember {
  template <typename Info, typename Member>
  void operator()(const Info&, Member&) const {}
};
template <typename Value>
concept HasMembers = requires(Value& value) {
  visit_members(value, IgnoreMember{});
};

template <typename Info>
inline constexpr bool kIsFlat = std::is_same_v<Info, FlatMember>;
template <typename Info>
inline constexpr bool kIsElsewhere = std::is_same_v<Info, ElsewhereMember>;
template <typename Info>
inline constexpr bool kIsNamed = std::is_same_v<Info, NamedMember>;

template <typename Value>
struct IsOptional : std::false_type {};
template <typename Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

}  // namespace fatune

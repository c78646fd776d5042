#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulate/memory/tensor_map.hpp"

namespace fatune::emulate {

/// A cp.async.bulk, with or without a tensor map, that has not been waited for.
struct BulkCopy {
  enum class Kind : std::uint8_t {
    load,   ///< global memory to shared memory of one or more blocks; completes on mbarriers
    store,  ///< shared memory to global memory; completes a bulk group
    move,   ///< shared memory to that of another block; completes on its mbarrier
  };
  struct Box {
    TensorMap map;
    Coordinates corner{};
  };

  Kind kind = Kind::load;
  std::uint32_t instruction = 0;
  std::size_t warp = 0;  ///< index into Execution::warps
  int lane = 0;
  std::uint64_t global = 0;  ///< the address of a copy without a box
  std::uint32_t shared = 0;  ///< shared::cta address; of a move: of its source
  std::uint32_t bytes = 0;   ///< what each block receives
  std::optional<Box> box;
  std::uint32_t blocks = 0;       ///< load, move: bit r selects the block of rank r
  std::uint32_t destination = 0;  ///< move: address in that block
  std::uint32_t mbarrier = 0;     ///< load, move: offset in those blocks' shared memory
  std::uint32_t group = 0;        ///< store: number of groups that the thread had committed before
  bool landed = false;            ///< the copy has happened; a store must still be waited for

  [[nodiscard]] bool goes_to(std::uint64_t rank) const {
    return rank < 32 && (blocks >> rank & 1U) != 0;
  }
};

}  // namespace fatune::emulate

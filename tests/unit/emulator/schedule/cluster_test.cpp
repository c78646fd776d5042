#include <gmock/gmock.h>

#include <cstring>

#include "emulator/memory/tensor_map.hpp"
#include "unit/emulator/emulated_kernel.hpp"
#include "unit/emulator/planted_fault.hpp"

// Clusters: the blocks whose shared memory and mbarriers an instruction may use, and the threads
// that a cluster's barrier waits for.
namespace fatune::emulate {
namespace {

Trial pair_of_blocks() {
  Trial trial;
  trial.blocks = 2;
  trial.cluster = 2;
  return trial;
}

const std::string kSync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
const std::string kTile =
    ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b8 bars[64];\nmov.u32 %r1, tile;\n"
    "mov.u32 %r2, bars;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 1;\n" +
    kSync;
/// Sets %r3 and %r4 to the addresses of tile and bars in block rank 1, and %p1 for thread 0 of
/// block rank 0 alone.
const std::string kOther =
    "mapa.shared::cluster.u32 %r3, %r1, 1;\nmapa.shared::cluster.u32 %r4, %r2, 1;\n"
    "mov.u32 %r5, %cluster_ctarank;\nsetp.eq.and.u32 %p1, %r5, 0, %p1;\n";

std::string load(const std::string& to, const std::string& mbarrier) {
  return "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to +
         "], [%w0], 64, [" + mbarrier + "]; // here\n";
}

TEST(Cluster, ACopyToABlockThatIsNotThereIsFound) {
  const std::string text =
      kernel_text(kTile + "or.b32 %r3, %r1, 0xff000000;\n" + load("%r3", "%r2") + kSync);
  expect_found(text, "out_of_bounds", "block rank 254 of a cluster of 2", pair_of_blocks());
}

TEST(Cluster, ACopyToDeviceMemoryIsFound) {
  const std::string text = kernel_text(kTile + load("%w1", "%r2") + kSync);
  expect_found(text, "out_of_bounds", "of a cluster of 2", pair_of_blocks());
}

TEST(Cluster, AnMbarrierOfAnotherBlockThanTheCopysIsFound) {
  const std::string text = kernel_text(kTile + kOther + load("%r3", "%r2") + kSync);
  expect_found(text, "out_of_bounds",
               "the mbarrier belongs to block rank 0, to which the copy does not",
               pair_of_blocks());
}

TEST(Cluster, AStoreFromAnotherBlockIsFound) {
  const std::string text = kernel_text(
      kTile + kOther +
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%w1], [%r3], 64; // here\n" + kSync);
  expect_found(text, "out_of_bounds", "which is not the block's own", pair_of_blocks());
}

TEST(Cluster, AWaitForAnMbarrierOfAnotherBlockIsFound) {
  const std::string text =
      kernel_text(kTile + kOther +
                  "cvt.u64.u32 %w3, %r2;\ncvta.shared.u64 %w3, %w3;\nmapa.u64 %w3, %w3, 1;\n"
                  "@%p1 mbarrier.test_wait.parity.b64 %p2, [%w3], 0; // here\n" +
                  kSync);
  expect_found(text, "out_of_bounds", "which is not in this space", pair_of_blocks());
}

/// 256^4 elements of 2 bytes are 2^33 bytes, which do not fit into 32 bits.
TEST(Cluster, ABoxThatNoMemoryHoldsIsFound) {
  TensorMap map;
  map.rank = 4;
  map.address = input_address();
  for (std::size_t i = 0; i < map.rank; ++i) {
    map.sizes[i] = 256;
    map.strides[i] = i == 0 ? 2 : std::uint64_t{512} << (8 * (i - 1));
    map.box[i] = 256;
  }
  const auto encoded = encode_tensor_map(map);
  Trial trial = pair_of_blocks();
  std::memcpy(trial.input.data(), encoded.data(), encoded.size());
  const std::string text = kernel_text(
      kTile +
      "@%p1 cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%r1], "
      "[%w0, {0, 0, 0, 0}], [%r2]; // here\n");
  expect_found(text, "out_of_bounds", "a box of 8589934592 bytes", trial);
}

/// Block rank 0 reads, by a generic address, what rank 1 has written to rank 1's memory.
TEST(Cluster, AGenericAddressReachesOtherBlocks) {
  const std::string text = kernel_text(
      ".shared .align 4 .b8 word[4];\nmov.u32 %r1, %cluster_ctarank;\nadd.u32 %r2, %r1, 40;\n"
      "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [word], %r2;\n" +
      kSync +
      "mov.u64 %w3, word;\ncvta.shared.u64 %w3, %w3;\nmapa.u64 %w3, %w3, 1;\n"
      "setp.eq.u32 %p2, %r1, 0;\n@%p2 ld.u32 %r3, [%w3];\n@%p2 st.global.u32 [%w2], %r3;\n" +
      kSync);
  expect_clean(text, pair_of_blocks());
  EXPECT_EQ(emulate(text, pair_of_blocks()).stored(3), 41U);
}

/// A flag is the same location whether its own block or another one accesses it.
TEST(Cluster, AFlagInAnotherBlockHandsOverWhatWasWritten) {
  const std::string text = kernel_text(
      ".shared .align 4 .b8 word[4]; .shared .align 4 .b8 flag[4];\n"
      "setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.u32 [flag], 0;\n" +
      kSync +
      "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p2, %r1, 0;\n@!%p1 bra END;\n"
      "@%p2 bra GIVE;\n"
      "POLL: ld.acquire.cluster.shared.u32 %r2, [flag];\nsetp.eq.u32 %p3, %r2, 0;\n"
      "@%p3 bra POLL;\nld.shared.u32 %r3, [word];\nst.global.u32 [%w2], %r3;\nbra END;\n"
      "GIVE: mov.u32 %r4, word;\nmapa.shared::cluster.u32 %r4, %r4, 1;\n"
      "st.shared::cluster.u32 [%r4], 9;\nmov.u32 %r5, flag;\n"
      "mapa.shared::cluster.u32 %r5, %r5, 1;\n"
      "st.release.cluster.shared::cluster.u32 [%r5], 1;\nEND:\n" +
      kSync);
  expect_clean(text, pair_of_blocks());
  EXPECT_EQ(emulate(text, pair_of_blocks()).stored(), 9U);
}

/// Some lanes are a phase ahead of others of their warp.
TEST(Cluster, LanesOfAWarpMayBeInDifferentPhases) {
  const std::string text = kernel_text(
      "setp.lt.u32 %p1, %r0, 16;\nbarrier.cluster.arrive;\n@!%p1 bra SLOW;\n"
      "barrier.cluster.wait;\nbarrier.cluster.arrive;\nbra JOIN;\n"
      "SLOW: barrier.cluster.wait;\nbarrier.cluster.arrive;\nJOIN: barrier.cluster.wait;\n");
  expect_clean(text, pair_of_blocks());
}

/// Warp 0 arrives and ends. Warp 1 waits for what warp 2, which is alive, does before it arrives.
TEST(Cluster, ABarrierWaitsForAllThatLiveThoughOthersHaveArrivedAndEnded) {
  Trial trial;
  trial.threads = 96;
  const std::string text = kernel_text(
      ".shared .align 4 .b8 word[4];\nsetp.ge.u32 %p1, %r0, 64;\nsetp.lt.u32 %p2, %r0, 32;\n"
      "setp.eq.u32 %p3, %r0, 64;\n@%p3 st.shared.u32 [word], 7;\n"
      "barrier.cluster.arrive;\n@%p2 exit;\nbarrier.cluster.wait;\n"
      "@!%p1 ld.shared.u32 %r1, [word];\n");
  expect_clean(text, trial);
}

}  // namespace
}  // namespace fatune::emulate

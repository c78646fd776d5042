#include <gmock/gmock.h>

#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "hopper_kernels/product_kernel.hpp"
#include "unit/emulator/emulated_kernel.hpp"
#include "unit/emulator/planted_fault.hpp"

// Mistakes in the use of Hopper's features: mbarriers, bulk copies, wgmma and clusters.
namespace fatune::emulate {
namespace {

struct HopperFault {
  std::string name;
  std::string wrong;
  std::string repaired;
  std::string kind;
  std::string says;
  Trial trial = {.threads = 64};
  bool alone = true;  ///< the mistake causes no other kind of finding
};

const std::string kCopiedTile =
    ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b8 bars[64];\n"
    "mov.u32 %r1, tile;\nmov.u32 %r2, bars;\nsetp.eq.u32 %p1, %r0, 0;\n"
    "shl.b32 %r3, %r0, 4;\nadd.u32 %r4, %r1, %r3;\n";
const std::string kWait =
    "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;{}\n@!%p2 bra WAIT;\n";
const std::string kRead = "ld.shared.u32 %r5, [%r4];{}\nst.global.u32 [%w2], %r5;\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) {
    throw std::logic_error("not in the text: " + what);
  }
  return text.replace(at, what.size(), by);
}

std::string marked(const std::string& text, const std::string& line) {
  return replaced(text, line, line + " // here");
}

std::string init(int count) {
  return fmt::format("@%p1 mbarrier.init.shared.b64 [%r2], {};\n", count);
}

/// One bulk copy of 1024 bytes, for which the mbarrier expects `bytes`.
std::string load(int bytes) {
  return fmt::format(
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {};\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%w0], 1024, "
      "[%r2];\n",
      bytes);
}

std::string bulk_load(const std::string& sync, int bytes, bool waits, const char* mark_wait,
                      const char* mark_read) {
  return kernel_text(kCopiedTile + init(1) + sync + load(bytes) +
                     (waits ? fmt::format(fmt::runtime(kWait), mark_wait) : "") +
                     fmt::format(fmt::runtime(kRead), mark_read) +
                     (waits ? "" : fmt::format(fmt::runtime(kWait), "")));
}

/// Warp 0 waits until warp 1 has read a tile, for which the mbarrier expects `bytes`.
std::string read_tile_awaited(int bytes, const char* mark) {
  return kernel_text(
      kCopiedTile + init(1) + "@%p1 mbarrier.init.shared.b64 [%r2+8], 32;\nbar.sync 0;\n" +
      load(bytes) +
      "setp.ge.u32 %p3, %r0, 32;\n@%p3 bra READS;\n"
      "EMPTY: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+8], 0;\n@!%p2 bra EMPTY;\nbra END;\n"
      "READS:\n" +
      fmt::format(fmt::runtime(kWait), mark) + fmt::format(fmt::runtime(kRead), "") +
      "mbarrier.arrive.shared.b64 _, [%r2+8];\nEND: ret;\n");
}

/// Warp 1 fills the stages of a ring of two eight times, and warp 0 reads them. The full mbarriers
/// are at 0 and 8, the empty ones at 16 and 24. `first_parity` is the parity of the producer's
/// first waits for empty stages.
std::string ring(int first_parity, const char* mark) {
  return kernel_text(
      kCopiedTile +
      "@%p1 mbarrier.init.shared.b64 [%r2], 1;\n@%p1 mbarrier.init.shared.b64 [%r2+8], 1;\n"
      "@%p1 mbarrier.init.shared.b64 [%r2+16], 32;\n@%p1 mbarrier.init.shared.b64 [%r2+24], 32;\n"
      "bar.sync 0;\nmov.u32 %r6, 0;\nsetp.lt.u32 %p3, %r0, 32;\n@%p3 bra CONSUME;\n"
      "setp.ne.u32 %p4, %r0, 32;\n@%p4 bra END;\n" +
      fmt::format(
          "PRODUCE: and.b32 %r7, %r6, 1;\nshr.u32 %r8, %r6, 1;\nadd.u32 %r8, %r8, {};\n"
          "and.b32 %r8, %r8, 1;\nshl.b32 %r9, %r7, 3;\nadd.u32 %r9, %r9, %r2;\n"
          "EMPTY: mbarrier.try_wait.parity.shared.b64 %p2, [%r9+16], %r8;{}\n@!%p2 bra EMPTY;\n",
          first_parity, mark) +
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 512;\nshl.b32 %r10, %r7, 9;\n"
      "add.u32 %r10, %r10, %r1;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%w0], 512, "
      "[%r9];\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p5, %r6, 8;\n@%p5 bra PRODUCE;\nbra END;\n"
      "CONSUME: and.b32 %r7, %r6, 1;\nshr.u32 %r8, %r6, 1;\nand.b32 %r8, %r8, 1;\n"
      "shl.b32 %r9, %r7, 3;\nadd.u32 %r9, %r9, %r2;\n"
      "FULL: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], %r8;\n@!%p2 bra FULL;\n"
      "shl.b32 %r10, %r7, 9;\nadd.u32 %r10, %r10, %r4;\nld.shared.u32 %r5, [%r10];\n"
      "st.global.u32 [%w2], %r5;\nmbarrier.arrive.shared.b64 _, [%r9+16];\n"
      "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p5, %r6, 8;\n@%p5 bra CONSUME;\nEND: ret;\n");
}

/// Two warps meet at a named barrier, the second one `trips` times.
std::string named_barrier(int trips, const char* mark) {
  return kernel_text(
      fmt::format("mov.u32 %r6, 0;\nsetp.lt.u32 %p1, %r0, 32;\nselp.u32 %r7, 3, {}, %p1;\n"
                  "LOOP: bar.sync 1, 64;{}\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p2, %r6, %r7;\n"
                  "@%p2 bra LOOP;\n",
                  trips, mark));
}

/// Each thread writes 16 bytes, and one thread stores all of them to global memory.
std::string bulk_store(const std::string& fence, const std::string& wait, const std::string& then) {
  return kernel_text(kCopiedTile + "st.shared.v4.u32 [%r4], {%r0, %r0, %r0, %r0};\n" + fence +
                     "bar.sync 0;\n@!%p1 bra DONE;\n"
                     "cp.async.bulk.global.shared::cta.bulk_group [%w1], [%r1], 1024;{here}\n"
                     "cp.async.bulk.commit_group;\n" +
                     wait + "DONE: bar.sync 0;\n" + then);
}

/// All lanes of warp 0 store `source`, an address and a size, to the same place. Afterwards %r5 of
/// lane i is the address of row 31 - i.
std::string store_by_a_warp(const std::string& source, const char* mark, const std::string& then) {
  return kernel_text(kCopiedTile +
                     "st.shared.v4.u32 [%r4], {1, 1, 1, 1};\nfence.proxy.async.shared::cta;\n"
                     "bar.sync 0;\nsetp.ge.u32 %p2, %r0, 32;\n@%p2 bra DONE;\n"
                     "cp.async.bulk.global.shared::cta.bulk_group [%w1], " +
                     source + mark +
                     "\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                     "xor.b32 %r5, %r0, 31;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %r5, %r1;\n" +
                     then + "DONE: ret;\n");
}

std::string at_copy(const std::string& text, bool mark) {
  return replaced(text, "{here}", mark ? " // here" : "");
}

const std::string kFence = "fence.proxy.async.shared::cta;\n";
const std::string kReadWait = "cp.async.bulk.wait_group.read 0;\n";

/// Block 0 reads what block 1 of the cluster writes into block 1's shared memory.
std::string remote_read(const std::string& sync, const char* mark) {
  return kernel_text(
      kCopiedTile + "st.shared.u32 [%r4], %r0;\n" + sync +
      fmt::format("mapa.shared::cluster.u32 %r6, %r4, 1;\nmov.u32 %r7, %cluster_ctarank;\n"
                  "setp.ne.u32 %p2, %r7, 0;\n@%p2 bra DONE;\n"
                  "ld.shared::cluster.u32 %r5, [%r6];{}\nst.global.u32 [%w2], %r5;\n"
                  "DONE: barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
                  mark));
}

const std::string kClusterSync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// The first four warps keep `kept` registers, and the others ask for 232. Each of the 384 threads
/// starts with 168.
std::string reallocation(int kept, const char* mark) {
  return kernel_text(
      fmt::format("setp.lt.u32 %p1, %r0, 128;\n@%p1 bra GIVE;\n"
                  "setmaxnreg.inc.sync.aligned.u32 232;{}\nbra DONE;\n"
                  "GIVE: setmaxnreg.dec.sync.aligned.u32 {};\nDONE: bar.sync 0;\n",
                  mark, kept));
}

/// Copies 1024 bytes to a tile that has another mbarrier at `place`.
std::string copy_beside(int place, const char* mark) {
  return kernel_text(
      kCopiedTile + init(1) + fmt::format("@%p1 mbarrier.init.shared.b64 [%r1+{}], 1;\n", place) +
      "bar.sync 0;\n" + replaced(load(1024), "[%r2];\n", fmt::format("[%r2];{}\n", mark)) +
      fmt::format(fmt::runtime(kWait), ""));
}

Trial cluster_trial() {
  Trial trial;
  trial.threads = 64;
  trial.blocks = 2;
  trial.cluster = 2;
  return trial;
}

// --- Products: the kernel of hopper_kernels/product_kernel.cpp with one mistake ---

const hopper::ProductCase kProduct{};
const hopper::ProductCase kRegisterProduct{.columns = 64, .a_in_registers = true};
const hopper::ProductCase kFp8Product{.columns = 64, .a = Factor::e4m3, .b = Factor::e5m2};
const hopper::ProductCase kFp8RegisterProduct{
    .columns = 64, .a = Factor::e5m2, .b = Factor::e4m3, .a_in_registers = true};

Trial product_trial(const hopper::ProductCase& c) {
  Trial trial;
  trial.threads = hopper::kThreads;
  trial.input.resize(hopper::kInputBytes);
  trial.output_bytes = std::size_t{hopper::kThreads} * hopper::sums_of(c) * 4;
  const auto maps = hopper::product_maps(c, input_address());
  const auto put = [&](std::uint32_t to, const auto& bytes) {
    std::memcpy(trial.input.data() + to, bytes.data(), bytes.size());
  };
  put(hopper::kMapA, encode_tensor_map(maps[0]));
  put(hopper::kMapB, encode_tensor_map(maps[1]));
  put(hopper::kDataA, hopper::product_data(c));
  return trial;
}

std::vector<HopperFault> copy_faults() {
  const std::string sync = "bar.sync 0;\n";
  return {
      {"MbarrierParitySlip", ring(0, " // here"), ring(1, ""), "deadlock",
       "for the mbarrier at shared memory + 4112, whose phase 0 waits for 32 of 32 arrivals"},
      {"WrongExpectTx", bulk_load(sync, 1040, true, " // here", ""),
       bulk_load(sync, 1024, true, "", ""), "deadlock", "0 of 1 arrivals and 16 bytes"},
      {"ExpectsTooFew", bulk_load(sync, 1008, true, " // here", ""),
       bulk_load(sync, 1024, true, "", ""), "deadlock",
       "16 bytes have come that were not expected"},
      {"BulkCopyNotWaitedFor",
       bulk_load(sync, 1024, false, "", " // here"),
       bulk_load(sync, 1024, true, "", ""),
       "in_flight",
       "asynchronous copy",
       {.threads = 64},
       false},
      {"NoMbarrierThere",
       kernel_text(kCopiedTile + "mbarrier.arrive.shared.b64 _, [%r2]; // here\n"),
       kernel_text(kCopiedTile + init(64) + "bar.sync 0;\nmbarrier.arrive.shared.b64 _, [%r2];\n"),
       "barrier_misuse", "there is no mbarrier at shared memory + 4096"},
      {"TooManyArrivals",
       kernel_text(kCopiedTile + init(32) + load(16) + "bar.sync 0;\n" +
                   "mbarrier.arrive.shared.b64 _, [%r2];\n"),
       kernel_text(kCopiedTile + init(64) + "bar.sync 0;\nmbarrier.arrive.shared.b64 _, [%r2];\n"),
       "barrier_misuse",
       "arrivals, but the mbarrier's phase 0 waits for",
       {.threads = 64},
       false},
      {"MbarrierOverwritten",
       kernel_text(kCopiedTile + init(1) + "bar.sync 0;\nst.shared.u32 [%r2+4], %r0; // here\n"),
       kernel_text(kCopiedTile + init(1) + "bar.sync 0;\nst.shared.u32 [%r4], %r0;\n"),
       "barrier_misuse", "which holds an mbarrier"},
      {"NamedBarrierTrips", named_barrier(2, " // here"), named_barrier(3, ""), "deadlock",
       "at barrier 1, where 32 of 64 threads have arrived"},
      {"MissingProxyFence", at_copy(bulk_store("", kReadWait, ""), true),
       at_copy(bulk_store(kFence, kReadWait, ""), false), "missing_proxy_fence",
       "with no fence.proxy.async in between"},
      {"ProxyFenceOfOneThread",
       at_copy(bulk_store("@%p1 fence.proxy.async.shared::cta;\n", kReadWait, ""), true),
       at_copy(bulk_store(kFence, kReadWait, ""), false), "missing_proxy_fence",
       "through the async"},
      {"OverwrittenWhileStored",
       at_copy(bulk_store(kFence, "",
                          "st.shared.u32 [%r4], 7; // here\n"
                          "cp.async.bulk.wait_group.read 0;\n"),
               false),
       at_copy(bulk_store(kFence, kReadWait, "st.shared.u32 [%r4], 7;\n"), false),
       "in_flight",
       "which an asynchronous operation may still read",
       {.threads = 64},
       false},
      {"StoresOfOnePlaceByAWholeWarp", store_by_a_warp("[%r4], 16;", " // here", ""),
       store_by_a_warp("[%r1], 16;", "", ""), "race", "with no synchronisation in between"},
      {"StoredTileIsWrittenByOtherLanes",
       store_by_a_warp("[%r1], 512;", "", "st.shared.u32 [%r5], %r0; // here\n"),
       store_by_a_warp("[%r1], 512;", "",
                       "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r0, %r0, %r0, %r0};\n"),
       "race", "thread 0 (warp 0) reads"},
      {"StorePendingAtExit", at_copy(bulk_store(kFence, "", ""), true),
       at_copy(bulk_store(kFence, kReadWait, ""), false), "pending_at_exit",
       "without waiting until this store has read its 1024 bytes"},
      {"CopyOverAnMbarrier", copy_beside(1016, " // here"), copy_beside(1024, ""), "barrier_misuse",
       "which holds an mbarrier"},
      {"RegistersThatNobodyGives",
       reallocation(48, " // here"),
       reallocation(40, ""),
       "deadlock",
       "for 2048 registers, but the block's pool has ",
       {.threads = 384}},
      {"GivesUpMoreThanItHas",
       kernel_text("setmaxnreg.dec.sync.aligned.u32 240; // here\n"),
       kernel_text("setmaxnreg.dec.sync.aligned.u32 160;\n"),
       "barrier_misuse",
       "but a thread has at most 168",
       {.threads = 384}},
      {"RemoteReadUnordered", remote_read("bar.sync 0;\n", " // here"),
       remote_read(kClusterSync, ""), "race", "of block rank 1 writes", cluster_trial(), false},
  };
}

std::string first_product_of(const std::string& text) {
  const std::size_t begin = text.find("wgmma.mma_async");
  return text.substr(begin, text.find('\n', begin) + 1 - begin);
}

const std::string kProductWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kProductFence = "wgmma.fence.sync.aligned;\n";

HopperFault sums_before_the_wait(const std::string& name, const hopper::ProductCase& product) {
  const std::string right = hopper::product_kernel(product);
  return {name,
          marked(replaced(replaced(right, kProductWait, ""), "ret;\n", kProductWait + "ret;\n"),
                 "st.global.b32 [%w5+0], %s0;"),
          right,
          "pending_registers",
          "reads %s0, which a wgmma that no thread has waited for",
          product_trial(product)};
}

HopperFault missing_wgmma_fence(const std::string& name, const hopper::ProductCase& product) {
  const std::string right = hopper::product_kernel(product);
  return {name,
          replaced(right, kProductFence, ""),
          right,
          "missing_wgmma_fence",
          "was written with no wgmma.fence since",
          product_trial(product)};
}

std::vector<HopperFault> product_faults() {
  const std::string right = hopper::product_kernel(kProduct);
  const std::string first = first_product_of(right);
  const std::string only_96 = "setp.ge.u32 %p3, %r0, 96;\n";
  const std::string registers = hopper::product_kernel(kRegisterProduct);
  const std::string& wait = kProductWait;
  const Trial trial = product_trial(kProduct);
  const std::string& fence = kProductFence;
  // Thread 32 writes a word before its first product.
  const std::string noted =
      replaced(right, fence,
               "{\n.shared .align 4 .b8 note[4];\n.reg .pred q;\nsetp.eq.u32 q, %r0, 32;\n"
               "@q st.shared.u32 [note], %r0;\n}\n" +
                   fence);
  return {
      sums_before_the_wait("SumsBeforeTheWait", kProduct),
      {"FragmentOverwritten",
       marked(replaced(registers, wait, ""),
              fmt::format("ld.global.u32 %a0, [%w6+{}];", hopper::kDataA + 32)),
       registers, "pending_registers", "writes %a0", product_trial(kRegisterProduct)},
      missing_wgmma_fence("MissingWgmmaFence", kRegisterProduct),
      {"UnalignedPanel",
       marked(replaced(right, ".shared .align 1024 .b8 tiles[",
                       ".shared .align 1024 .b8 pad[128]; .shared .align 128 .b8 tiles["),
              "%p2, 1, 1, 0, 0;"),
       right, "misaligned", "the swizzled panel of A begins at shared address", trial},
      {"ProductsNotWaitedFor",
       replaced(replaced(right, wait, ""), "st.global.b32 [%w5+0], %s0;", "ret;\n"), right,
       "pending_at_exit", "without waiting for 4 products", trial},
      {"OperandOverwritten",
       replaced(right, wait, "@%p1 st.shared.u32 [%r5], %r0; // here\n" + wait), right, "in_flight",
       "which an asynchronous operation may still read", trial, false},
      {"AWarpLeavesAProductOut",
       replaced(right, first, only_96 + "@%p3 bra SKIP;\n" + first + "SKIP: "), right,
       "divergent_product", "the warpgroup has the instruction at PTX line", trial},
      {"AWarpEndsBeforeItsProducts", replaced(right, first, only_96 + "@%p3 ret;\n" + first), right,
       "divergent_product", "takes no part in this product", trial},
      {"OtherDescriptorOfAWarp",
       replaced(right, first,
                only_96 + "@%p3 sub.u64 %w4, %w4, 64;\n" + replaced(first, ";\n", "; // here\n")),
       right, "divergent_product", "in its place, another warp of the warpgroup has descriptors",
       trial},
      // Once one warp has waited, all four warps have read the operand.
      {"OperandHandedOverByOneThread",
       replaced(right, wait, "@%p1 st.shared.u32 [%r6], %r0; // here\n" + wait),
       replaced(right, wait, wait + "@%p1 st.shared.u32 [%r6], %r0;\n"), "in_flight",
       "which an asynchronous operation may still read", trial, false},
      {"TheWaitOrdersNothingElse",
       replaced(noted, wait, wait + "@%p1 ld.shared.u32 %r15, [note]; // here\n"),
       replaced(noted, wait, wait + "bar.sync 0;\n@%p1 ld.shared.u32 %r15, [note];\n"), "race",
       "thread 32 (warp 1) writes", trial},
      {"SumsSetBehindTheFence", replaced(right, fence, fence + "mov.b32 %s0, 1;\n"),
       replaced(right, fence, fence + "mov.b32 %s0, 0;\nmov.b32 %s1, %s0;\n"),
       "missing_wgmma_fence", "uses %s0, which was written with no wgmma.fence since", trial},
      {"OperandUnfenced",
       replaced(right, "wgmma.fence.sync.aligned;\n",
                "st.shared.u32 [%r5], 0;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n"),
       replaced(right, "wgmma.fence.sync.aligned;\n",
                "@%p1 st.shared.u32 [%r5], 0;\nfence.proxy.async;\nbar.sync 0;\n"
                "wgmma.fence.sync.aligned;\n"),
       "missing_proxy_fence", "multiplies shared memory + 0 through the async proxy", trial, false},
  };
}

std::vector<HopperFault> fp8_product_faults() {
  const std::string right = hopper::product_kernel(kFp8Product);
  const std::string registers = hopper::product_kernel(kFp8RegisterProduct);
  const std::string& wait = kProductWait;
  const Trial trial = product_trial(kFp8Product);
  const std::string store = fmt::format("@%p1 st.shared.u32 [%r6+{}], %r0;", 64 * 128 - 4);
  return {
      sums_before_the_wait("Fp8SumsBeforeTheWait", kFp8Product),
      {"Fp8FragmentOverwritten",
       marked(replaced(registers, wait, ""),
              fmt::format("ld.global.u32 %a3, [%w6+{}];",
                          hopper::kDataA + 8 * hopper::kRowBytes + 32 + 16)),
       registers, "pending_registers", "writes %a3", product_trial(kFp8RegisterProduct), false},
      missing_wgmma_fence("Fp8MissingWgmmaFence", kFp8RegisterProduct),
      {"Fp8OperandOverwritten", replaced(right, wait, store + " // here\n" + wait),
       replaced(right, wait, wait + store + "\n"), "in_flight",
       "which an asynchronous operation may still read", trial, false},
  };
}

class HopperKernels : public testing::TestWithParam<HopperFault> {};

TEST_P(HopperKernels, IsFoundUnderEverySchedule) {
  const HopperFault& fault = GetParam();
  expect_found(fault.wrong, fault.kind, fault.says, fault.trial, fault.alone);
}

TEST_P(HopperKernels, IsNotSeenWhereItIsNot) {
  expect_clean(GetParam().repaired, GetParam().trial);
}

TEST(HopperFaults, OneMistakeBeforeSeveralProductsIsOneFinding) {
  const std::string fence = "wgmma.fence.sync.aligned;\n";
  const std::string text =
      replaced(hopper::product_kernel(kProduct), fence, fence + "mov.b32 %s0, 1;\n");
  EXPECT_THAT(emulate(text, product_trial(kProduct)).findings(), testing::SizeIs(1));
}

TEST(HopperFaults, AWaitForBytesThatNobodyBringsIsNamedFirst) {
  const std::string text = read_tile_awaited(1040, " // here");
  expect_clean(read_tile_awaited(1024, ""), {.threads = 64});
  const Emulated done = emulate(text, {.threads = 64});
  EXPECT_THAT(done.findings(), testing::SizeIs(2));
  EXPECT_THAT(done.findings().front(),
              testing::StartsWith(fmt::format("deadlock at line {} by", marked_line(text))));
}

/// The second warp finds no mbarrier or one that it must not rely on, depending on the schedule.
TEST(HopperFaults, AnInitialisationThatIsNotSynchronisedIsFound) {
  const std::string text = kernel_text(kCopiedTile + init(64) +
                                       "bar.warp.sync -1;\nmbarrier.arrive.shared.b64 _, [%r2];\n");
  for (const Schedule& schedule : all_schedules()) {
    const Emulated done = emulate(text, {.threads = 64, .schedule = schedule});
    EXPECT_THAT(done.findings(),
                testing::ElementsAre(testing::AnyOf(testing::HasSubstr("there is no mbarrier"),
                                                    testing::HasSubstr("which another thread "
                                                                       "initialises"))))
        << name_of(schedule);
  }
}

std::string hopper_fault_name(const testing::TestParamInfo<HopperFault>& fault) {
  return fault.param.name;
}

INSTANTIATE_TEST_SUITE_P(Copies, HopperKernels, testing::ValuesIn(copy_faults()),
                         hopper_fault_name);
INSTANTIATE_TEST_SUITE_P(Fp8Products, HopperKernels, testing::ValuesIn(fp8_product_faults()),
                         hopper_fault_name);
INSTANTIATE_TEST_SUITE_P(Products, HopperKernels, testing::ValuesIn(product_faults()),
                         hopper_fault_name);

}  // namespace
}  // namespace fatune::emulate

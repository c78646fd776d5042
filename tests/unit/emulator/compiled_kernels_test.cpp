#include <gmock/gmock.h>

#include <cstring>

#include <fmt/format.h>

#include "emulator/memory/tensor_map.hpp"
#include "gpu/nvrtc.hpp"
#include "model/kernel_code.hpp"
#include "unit/emulator/emulated_kernel.hpp"

// Kernels compiled by NVRTC, with tensor maps as kernel arguments.
namespace fatune::emulate {
namespace {

using testing::IsEmpty;

/// Copies a box of 8 rows of 16 elements to shared memory, and writes it to `out`.
constexpr const char* kBox = R"(
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ inline void copy_box(const CUtensorMap* map, unsigned short* out, int x, int y) {
  __shared__ alignas(128) unsigned short tile[8 * 16];
  __shared__ alignas(8) unsigned long long bar;
  const unsigned mbarrier = shared_address(&bar);
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(mbarrier) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)), "l"(map), "r"(x), "r"(y),
        "r"(mbarrier) : "memory");
  }
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }"
               ::"r"(mbarrier) : "memory");
  for (int i = threadIdx.x; i < 8 * 16; i += 32) out[i] = tile[i];
}
)";

constexpr const char* kAsArgument = R"(
extern "C" __global__ void k(const void*, unsigned short* out, int x, int y,
                             const __grid_constant__ CUtensorMap map) {
  copy_box(&map, out, x, y);
}
)";
/// The map is in a struct, at an offset. Which of two maps is used is known only at run time.
constexpr const char* kInStruct = R"(
struct Args { int x; int y; CUtensorMap maps[2]; };
extern "C" __global__ void k(const void*, unsigned short* out, const __grid_constant__ Args args) {
  copy_box(&args.maps[threadIdx.y == 0 ? 1 : 0], out, args.x, args.y);
}
)";

std::string compiled(const std::string& kernel) {
  gpu::Program program(SourceBundle{{"kernel.cu", kBox + kernel}, {}});
  EXPECT_TRUE(program.compile({"--gpu-architecture=compute_90a", "--std=c++17"})) << program.log();
  return program.ptx();
}

constexpr std::uint32_t kRows = 20;     ///< of the tensor
constexpr std::uint32_t kColumns = 40;  ///< of the tensor

/// The value of element (row, column).
std::uint16_t element(std::uint32_t row, std::uint32_t column) {
  return static_cast<std::uint16_t>(row * 256 + column);
}

TensorMap tensor() {
  TensorMap map;
  map.rank = 2;
  map.address = input_address();
  map.sizes = {kColumns, kRows};
  map.strides = {2, std::uint64_t{kColumns} * 2};
  map.box = {16, 8};
  return map;
}

struct Corner {
  std::int32_t x = 0;
  std::int32_t y = 0;
};

void append(std::vector<std::uint8_t>& to, const auto& value) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(value));
}

Trial trial_of(std::vector<std::uint8_t> parameters) {
  Trial trial;
  trial.input.resize(std::size_t{kRows} * kColumns * 2);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      const std::uint16_t bits = element(row, column);
      std::memcpy(trial.input.data() + (std::size_t{row} * kColumns + column) * 2, &bits, 2);
    }
  }
  trial.more_parameters = std::move(parameters);
  return trial;
}

/// Returns the elements that the kernel copied. Expects no findings.
std::vector<std::uint16_t> copied(const std::string& ptx, const Trial& trial) {
  const Emulated done = emulate(ptx, trial);
  EXPECT_THAT(done.findings(), IsEmpty());
  std::vector<std::uint16_t> elements(std::size_t{8} * 16);
  std::memcpy(elements.data(), done.output.data(), elements.size() * 2);
  return elements;
}

/// Runs kInStruct. Its struct holds x, y, and from byte 64 on two maps, the second of which is
/// `map`.
std::vector<std::uint16_t> copied_box(const TensorMap& map, Corner corner) {
  std::vector<std::uint8_t> parameters;
  append(parameters, corner);
  parameters.resize(64 + kTensorMapBytes);
  append(parameters, encode_tensor_map(map));
  return copied(compiled(kInStruct), trial_of(parameters));
}

TEST(CompiledKernels, ATensorMapInAStructIsFound) {
  const auto elements = copied_box(tensor(), {8, 3});
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(elements[i], element(3 + i / 16, 8 + i % 16)) << i;
  }
}

/// The parameters are in, out, x, y, and the map at byte 64.
TEST(CompiledKernels, ATensorMapMayBeAnArgument) {
  const std::string ptx = compiled(kAsArgument);
  std::vector<std::uint8_t> parameters;
  append(parameters, encode_tensor_map(tensor()));
  const auto elements = copied(ptx, trial_of(parameters));  // x and y are 0
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(elements[i], element(i / 16, i % 16)) << i;
  }
}

TEST(CompiledKernels, BytesThatAreNoTensorMapAreFound) {
  const Emulated done =
      emulate(compiled(kAsArgument), trial_of(std::vector<std::uint8_t>(kTensorMapBytes)));
  EXPECT_THAT(done.findings(), testing::Contains(testing::HasSubstr(
                                   "there is no tensor map of 2 dimensions at this address")));
}

/// The box has rows 16 to 23 of a tensor with 20 rows, and columns 32 to 47 of 40.
class Edge : public testing::TestWithParam<bool> {};

TEST_P(Edge, IsFilled) {
  TensorMap map = tensor();
  map.fills_nan = GetParam() ? 1 : 0;
  const auto elements = copied_box(map, {32, 16});
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    const std::uint32_t row = 16 + i / 16;
    const std::uint32_t column = 32 + i % 16;
    const bool inside = row < kRows && column < kColumns;
    const std::uint16_t fill = GetParam() ? 0x7fff : 0;  // a NaN in FP16 and in BF16
    EXPECT_EQ(elements[i], inside ? element(row, column) : fill) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(CompiledKernels, Edge, testing::Bool());

/// Every third of 24 rows is copied. The rows between are left out.
TEST(CompiledKernels, ElementStridesLeaveRowsOut) {
  TensorMap map = tensor();
  map.box = {16, 24};
  map.steps = {5, 3, 1, 1, 1};  // that of dimension 0 is ignored
  const auto elements = copied_box(map, {2, 1});
  for (std::uint32_t i = 0; i < elements.size(); ++i) {
    const std::uint32_t row = 1 + i / 16 * 3;
    EXPECT_EQ(elements[i], row < kRows ? element(row, 2 + i % 16) : 0) << i;
  }
}

TEST(CompiledKernels, MapsThatTheDriverRefusesAreRefused) {
  TensorMap bytes = tensor();
  bytes.element_bytes = 1;
  bytes.fills_nan = 1;
  EXPECT_THROW((void)encode_tensor_map(bytes), std::invalid_argument);
  TensorMap steps = tensor();
  steps.steps[1] = 9;
  EXPECT_THROW((void)encode_tensor_map(steps), std::invalid_argument);
}

}  // namespace
}  // namespace fatune::emulate

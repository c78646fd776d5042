// Arbitrary bytes as PTX: either they run on the emulator, to the end or with findings, or they
// give an error. The emulator never crashes or runs forever.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "emulator/launch.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "ptx_mutator.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

namespace {

using namespace fatune;
using namespace fatune::emulate;

constexpr std::uint64_t kMostInstructions = 2000;
constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
constexpr std::uint64_t kFirstData = 1024;  ///< offset in the buffer, after the tensor maps

/// How a text is run. Its instructions decide this, so that mutations run in the same way.
struct Shape {
  std::uint32_t threads = 48;
  std::uint32_t blocks = 1;  ///< blocks of the cluster, which is the whole grid
  std::uint32_t dynamic_smem_bytes = 1024;
};

Shape shape_of(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  Shape shape;
  if (has("wgmma") || has("bar.sync 1, 64")) {
    shape.threads = 128;
  } else if (has("mbarrier")) {
    shape.threads = 64;
  }
  if (has("barrier.cluster") || has("mapa") || has("%cluster") || has("multicast")) {
    shape.blocks = 2;
  }
  if (has(".extern")) {
    shape.dynamic_smem_bytes = 48 * 1024;
  }
  return shape;
}

/// Maps of each rank and with every swizzle. The boxes fit the shared memory of the seeds.
std::vector<TensorMap> tensor_maps(std::uint64_t data) {
  std::vector<TensorMap> maps;
  const auto add = [&](std::uint8_t rank, std::uint32_t width, std::uint32_t height,
                       Swizzle swizzle) {
    TensorMap map;
    map.rank = rank;
    map.address = data;
    map.swizzle = swizzle;
    for (std::size_t i = 0; i < rank; ++i) {
      map.sizes[i] = i == 0 ? 64 : 9;
      map.strides[i] = i == 0 ? 2 : std::uint64_t{128} << (3 * (i - 1));
      map.box[i] = i == 0 ? width : i == 1 ? height : 2;
    }
    maps.push_back(map);
  };
  add(2, 64, 64, Swizzle::bytes_128);
  add(2, 64, 8, Swizzle::bytes_128);
  add(1, 64, 1, Swizzle::none);
  add(2, 32, 8, Swizzle::bytes_64);
  add(3, 16, 4, Swizzle::bytes_32);
  add(4, 64, 2, Swizzle::none);
  add(5, 8, 2, Swizzle::bytes_128);
  return maps;
}

/// Parameters filled with the address of a 64 KiB buffer, so that whatever the kernel uses as a
/// pointer is valid. The buffer begins with tensor maps of itself.
std::vector<std::uint8_t> pointers(GlobalMemory& memory, std::size_t bytes) {
  Allocation buffer;
  buffer.name = "buffer";
  buffer.bytes.resize(kBufferBytes, std::uint8_t{0x35});
  const std::uint64_t address = memory.allocate(buffer);
  std::uint8_t* to = memory.find(address, kBufferBytes)->bytes.data();
  for (const TensorMap& map : tensor_maps(address + kFirstData)) {
    const auto encoded = encode_tensor_map(map);
    to = std::copy(encoded.begin(), encoded.end(), to);
  }
  std::vector<std::uint8_t> parameters(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    parameters[i] = static_cast<std::uint8_t>(address >> (8 * (i % 8)));
  }
  return parameters;
}

/// The first kernel if there is one: the functions before it may be called by it.
const std::string& kernel_of(const PtxModule& module) {
  const auto kernel = std::find_if(module.functions.begin(), module.functions.end(),
                                   [](const PtxFunction& function) {
                                     return function.header.find(".entry") != std::string::npos;
                                   });
  return (kernel == module.functions.end() ? module.functions.front() : *kernel).name;
}

void run(const Program& program, const Shape& shape, Timing timing) {
  GlobalMemory memory;
  const std::vector<std::uint8_t> parameters = pointers(memory, program.parameter_bytes);
  LaunchSetup setup;
  setup.block = {shape.threads, 1, 1};
  setup.grid = {shape.blocks, 1, 1};
  setup.cluster = setup.grid;
  setup.dynamic_smem_bytes = shape.dynamic_smem_bytes;
  setup.parameters = parameters;
  setup.schedule.timing = timing;
  setup.most_warp_instructions = kMostInstructions;
  const LaunchResult result = run_kernel(program, memory, setup);
  if (!result.finished && result.findings.empty()) {
    std::abort();
  }
  for (const Finding& finding : result.findings.all()) {
    if (finding.instruction >= program.instructions.size() || finding.text.empty()) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const PtxModule module = parse_ptx(text, "fuzz");
    const Program program = decode_program(module, kernel_of(module), "fuzz");
    for (const Timing timing : {Timing::late, Timing::early, Timing::random}) {
      run(program, shape_of(text), timing);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}

namespace {

std::size_t give(const std::string& text, std::uint8_t* to, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  std::memcpy(to, text.data(), size);
  return size;
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

/// One time in four, arbitrary bytes change, because the parser is under test too.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (seed % 4 == 0) {
    return LLVMFuzzerMutate(bytes, size, most);
  }
  return give(fuzz::PtxMutator(seed).mutate(text_of(bytes, size)), bytes, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* to,
                                                 std::size_t most, unsigned int seed) {
  return give(
      fuzz::PtxMutator(seed).cross(text_of(first, first_size), text_of(second, second_size)), to,
      most);
}

#include "launch_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers.hpp"

namespace fatune_attention::detail {
namespace {

// CUDA's limits for gridDim and blockDim. Clusters of more than eight blocks need a kernel that
// allows them.
constexpr double kMaxGrid[3] = {2147483647, 65535, 65535};
constexpr double kMaxBlock[3] = {1024, 1024, 64};
constexpr double kMaxCluster[3] = {16, 16, 16};

constexpr double kMostBytes = 1099511627776.0;  // 2^40; also the limit of a map's sizes
constexpr double kMostAlignment = 256;

constexpr std::size_t kMapBytes = 128;
constexpr std::size_t kMapAlignment = 64;

bool divides(const Dim3& cluster, const Dim3& grid) {
  return grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

bool are_whole(const double* values, int count, double most) {
  return std::all_of(values, values + count,
                     [&](double value) { return is_whole(value, 0, most); });
}

/// The driver takes boxes and element strides as 32-bit numbers.
bool has_whole_numbers(const TensorMap& map) {
  constexpr double kMost32 = 4294967295.0;
  const int rank = map.dimensions;
  return rank >= 1 && rank <= 5 && are_whole(map.sizes, rank, kMostBytes) &&
         are_whole(map.strides_bytes, rank - 1, kMostBytes) && are_whole(map.box, rank, kMost32) &&
         are_whole(map.element_strides, rank, kMost32);
}

}  // namespace

/// Keeps the first failure.
bool LaunchBuilder::require(bool holds, const char* otherwise) {
  if (!holds && failure_ == nullptr) {
    failure_ = otherwise;
  }
  return failure_ == nullptr;
}

void LaunchBuilder::set(Dim3& extents, const double (&values)[3], const double (&most)[3],
                        const char* otherwise) {
  const bool fits = is_whole(values[0], 1, most[0]) && is_whole(values[1], 1, most[1]) &&
                    is_whole(values[2], 1, most[2]);
  if (require(fits, otherwise)) {
    extents = {static_cast<unsigned>(values[0]), static_cast<unsigned>(values[1]),
               static_cast<unsigned>(values[2])};
  }
}

void LaunchBuilder::grid(double x, double y, double z) {
  set(shape_.grid, {x, y, z}, kMaxGrid, "the grid is beyond CUDA's limits");
}

void LaunchBuilder::block(double x, double y, double z) {
  set(shape_.block, {x, y, z}, kMaxBlock, "the thread block is beyond CUDA's limits");
}

void LaunchBuilder::cluster(double x, double y, double z) {
  set(shape_.cluster, {x, y, z}, kMaxCluster, "the cluster of blocks is beyond CUDA's limits");
  require(divides(shape_.cluster, shape_.grid), "clusters of blocks do not divide the grid");
}

void LaunchBuilder::dynamic_smem_bytes(double bytes) {
  if (require(is_whole(bytes, 0, std::numeric_limits<std::int32_t>::max()),
              "the shared memory is not a number of bytes")) {
    shape_.dynamic_smem_bytes = static_cast<unsigned>(bytes);
  }
}

void LaunchBuilder::smem_carveout_percent(double percent) {
  if (require(is_whole(percent, -1, 100), "the share of shared memory is outside -1 to 100")) {
    shape_.smem_carveout_percent = static_cast<int>(percent);
  }
}

void LaunchBuilder::workspace(double bytes, double word, Clear clear) {
  const bool fits = is_whole(bytes, 1, kMostBytes) &&
                    is_whole(word, 0, std::numeric_limits<std::uint32_t>::max());
  if (require(fits, "a buffer of the workspace has no valid size or fill value")) {
    require(buffers_.add(static_cast<std::size_t>(bytes), static_cast<std::uint32_t>(word), clear),
            "the workspace has more than 16 buffers");
  }
}

void LaunchBuilder::unused_workspace() {
  require(buffers_.add(0, 0, Clear::none), "the kernel has too many buffers");
}

void LaunchBuilder::begin_struct(double alignment) {
  const bool fits = alignment == 0.0 || (is_whole(alignment, 1, kMostAlignment) &&
                                         std::exp2(std::ilogb(alignment)) == alignment);
  require(fits, "a struct's alignment is not a power of two");
  arguments_.begin_struct(fits && alignment > 0.0 ? static_cast<std::size_t>(alignment) : 1);
}

template <typename Integer>
void LaunchBuilder::integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  const double least = std::max(static_cast<double>(Limits::min()), -kMostExact);
  const double most = std::min(static_cast<double>(Limits::max()), kMostExact);
  if (require(is_whole(value, least, most), "an argument is not an integer of its type")) {
    const auto bits = static_cast<Integer>(value);
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

void LaunchBuilder::int8(double value) { integer<std::int8_t>(value); }
void LaunchBuilder::uint8(double value) { integer<std::uint8_t>(value); }
void LaunchBuilder::int16(double value) { integer<std::int16_t>(value); }
void LaunchBuilder::uint16(double value) { integer<std::uint16_t>(value); }
void LaunchBuilder::int32(double value) { integer<std::int32_t>(value); }
void LaunchBuilder::uint32(double value) { integer<std::uint32_t>(value); }
void LaunchBuilder::int64(double value) { integer<std::int64_t>(value); }
void LaunchBuilder::uint64(double value) { integer<std::uint64_t>(value); }

void LaunchBuilder::float32(double value, bool names_infinity) {
  const bool fits = std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) ||
                    (names_infinity && std::isinf(value));
  if (require(fits, "an argument is not a single-precision number")) {
    const auto bits = static_cast<float>(value);
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

void LaunchBuilder::float64(double value, bool names_infinity) {
  const bool fits = std::isfinite(value) || (names_infinity && std::isinf(value));
  if (require(fits, "an argument is not a number")) {
    arguments_.put(&value, sizeof value, sizeof value);
  }
}

void LaunchBuilder::boolean(double value) {
  if (require(std::isfinite(value), "an argument is neither true nor false")) {
    const unsigned char bits = value != 0.0 ? 1 : 0;
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

std::uint64_t LaunchBuilder::base_of(Operand operand) const {
  return addresses_.operands[static_cast<int>(operand)];
}

/// Returns 0 if only sizes are requested, as base_of() does.
std::uint64_t LaunchBuilder::base_of_buffer(int index) {
  const bool exists = index >= 0 && index < buffers_.count();
  const bool is_placed = require(exists, "an argument points to a buffer that does not exist") &&
                         addresses_.workspace != 0;
  return is_placed ? addresses_.workspace + buffers_.offset(index) : 0;
}

bool LaunchBuilder::address(std::uint64_t base, double offset_bytes, std::uint64_t& address) {
  if (!require(is_whole(offset_bytes, 0, kMostBytes),
               "an address's offset is not a number of bytes")) {
    return false;
  }
  address = base + static_cast<std::uint64_t>(offset_bytes);
  return true;
}

void LaunchBuilder::put_address(std::uint64_t base, double offset_bytes) {
  std::uint64_t bits = 0;
  if (address(base, offset_bytes, bits)) {
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

void LaunchBuilder::put_map(std::uint64_t base, double offset_bytes, const TensorMap& map) {
  alignas(kMapBytes) unsigned char bytes[kMapBytes] = {};
  std::uint64_t at = 0;
  if (!address(base, offset_bytes, at) ||
      !require(has_whole_numbers(map), "a tensor map has an invalid extent")) {
    return;
  }
  if (const char* refused = encode_ == nullptr ? nullptr : encode_(map, at, bytes)) {
    require(false, refused);
  }
  arguments_.put(bytes, sizeof bytes, kMapAlignment);
}

void LaunchBuilder::tensor(Operand operand, double offset_bytes) {
  put_address(base_of(operand), offset_bytes);
}

void LaunchBuilder::buffer(int index, double offset_bytes) {
  put_address(base_of_buffer(index), offset_bytes);
}

void LaunchBuilder::tensor_map(Operand operand, double offset_bytes, const TensorMap& map) {
  put_map(base_of(operand), offset_bytes, map);
}

void LaunchBuilder::buffer_map(int index, double offset_bytes, const TensorMap& map) {
  put_map(base_of_buffer(index), offset_bytes, map);
}

void LaunchBuilder::standard_arguments(const Facts& facts) {
  begin_argument();
  for (const Operand operand : {Operand::q, Operand::k, Operand::v, Operand::o}) {
    tensor(operand, 0);
  }
  int32(facts.batch);
  int32(facts.seq_len);
  int32(facts.heads);
  float32(facts.softmax_scale);
  if (facts.lse != 0.0) {
    tensor(Operand::lse, 0);
  }
  if (facts.seq_len_kv != facts.seq_len) {
    int32(facts.seq_len_kv);
  }
  end_argument();
}

}  // namespace fatune_attention::detail

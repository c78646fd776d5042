#include "launch_builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "numbers.hpp"

namespace fatune_attention::detail {

void ArgumentLayout::open(std::size_t alignment) {
  if (depth_ == kMostDepth) {
    failure_ = "the arguments have structs that are nested too deeply";
  }
  if (failure_ == nullptr) {
    frames_[depth_++] = {end_, alignment, item_count_};
  }
}

/// Appends zeros up to `end`. Returns false if there is no room.
bool ArgumentLayout::grow(std::size_t end) {
  if (end > kMostBytes) {
    failure_ = "the arguments have more than 32764 bytes";
    return false;
  }
  std::memset(bytes_ + end_, 0, end - end_);
  end_ = end;
  return true;
}

void ArgumentLayout::put(const void* value, std::size_t bytes, std::size_t alignment) {
  Frame& frame = frames_[depth_ - 1];
  const std::size_t at = frame.begin + round_up(end_ - frame.begin, alignment);
  if (failure_ == nullptr && item_count_ == kMostItems) {
    failure_ = "the arguments have more than 4096 items";
  }
  if (failure_ == nullptr && grow(at + bytes)) {
    items_[item_count_++] = static_cast<std::uint16_t>(at);
    frame.alignment = std::max(frame.alignment, alignment);
    std::memcpy(bytes_ + at, value, bytes);
  }
}

/// Moves the last frame's bytes up to the place that its alignment requires.
void ArgumentLayout::move(const Frame& frame, std::size_t begin) {
  const std::size_t bytes = end_ - frame.begin;
  if (grow(begin + bytes)) {
    std::memmove(bytes_ + begin, bytes_ + frame.begin, bytes);
    std::memset(bytes_ + frame.begin, 0, begin - frame.begin);
    for (int item = frame.first_item; item < item_count_; ++item) {
      items_[item] = static_cast<std::uint16_t>(items_[item] + (begin - frame.begin));
    }
  }
}

/// Ends the innermost frame. Returns its place, which is final now that its alignment is known.
ArgumentLayout::Frame ArgumentLayout::close() {
  if (failure_ != nullptr) {
    return {};
  }
  const Frame inner = frames_[--depth_];
  Frame& outer = frames_[depth_ - 1];
  const std::size_t begin = outer.begin + round_up(inner.begin - outer.begin, inner.alignment);
  if (grow(inner.begin + round_up(end_ - inner.begin, inner.alignment)) && begin > inner.begin) {
    move(inner, begin);
  }
  outer.alignment = std::max(outer.alignment, inner.alignment);
  return {begin, inner.alignment, inner.first_item};
}

void ArgumentLayout::end_argument() {
  if (failure_ != nullptr) {
    return;
  }
  const std::size_t before = frames_[depth_ - 1].begin;
  if (end_ == before) {
    --depth_;  // the argument has no items
    return;
  }
  const Frame argument = close();
  if (count_ == kMostArguments) {
    failure_ = "the kernel has more than 200 arguments";
  } else {
    arguments_[count_++] = {argument.begin, end_ - argument.begin, argument.alignment};
  }
}

bool WorkspaceLayout::add(std::size_t bytes, std::uint32_t word, Clear clear) {
  if (count_ == kMostBuffers) {
    return false;
  }
  offsets_[count_++] = place(bytes, word, clear);
  return true;
}

/// Returns the offset.
std::size_t WorkspaceLayout::place(std::size_t bytes, std::uint32_t word, Clear clear) {
  const std::size_t whole = round_up(bytes, kAlignment);
  if (clear == Clear::once && word == 0 && whole <= kCleanBytes - clean_end_) {
    clean_end_ += whole;
    return clean_end_ - whole;
  }
  if (clear != Clear::none) {
    fills_[fill_count_++] = {end_, round_up(bytes, sizeof word) / sizeof word, word};
  }
  end_ += whole;
  return end_ - whole;
}

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

constexpr double kMost32 = 4294967295.0;  // the driver takes boxes and element strides as such

}  // namespace

/// Keeps the first failure.
bool LaunchBuilder::require(bool holds, const char* otherwise) {
  if (!holds && failure_.what == nullptr) {
    failure_.what = otherwise;
  }
  return failure_.what == nullptr;
}

/// Requires a whole number. `index`: that of the value among those of the call.
bool LaunchBuilder::within(double value, double least, double most, const char* otherwise,
                           int index) {
  if (!is_whole(value, least, most) && failure_.what == nullptr) {
    failure_ = {otherwise, index, least, most};
  }
  return failure_.what == nullptr;
}

void LaunchBuilder::set(Dim3& extents, const double* values, const double (&most)[3],
                        const char* otherwise) {
  if (within(values[0], 1, most[0], otherwise, 0) && within(values[1], 1, most[1], otherwise, 1) &&
      within(values[2], 1, most[2], otherwise, 2)) {
    extents = {static_cast<unsigned>(values[0]), static_cast<unsigned>(values[1]),
               static_cast<unsigned>(values[2])};
  }
}

void LaunchBuilder::set_cluster(const double* values) {
  set(shape_.cluster, values, kMaxCluster, "the cluster of blocks is beyond CUDA's limits");
  const unsigned grid[3] = {shape_.grid.x, shape_.grid.y, shape_.grid.z};
  for (int i = 0; i < 3 && failure_.what == nullptr; ++i) {
    if (grid[i] % static_cast<unsigned>(values[i]) != 0) {
      failure_ = {"clusters of blocks do not divide the grid", i, 1, static_cast<double>(grid[i])};
    }
  }
}

bool LaunchBuilder::flag(double value, const char* otherwise) {
  return require(std::isfinite(value), otherwise) && value != 0.0;
}

void LaunchBuilder::workspace(double bytes, double word, Clear clear) {
  if (within(bytes, 1, kMostBytes, "a buffer of the workspace has no valid size") &&
      within(word, 0, kMost32, "a buffer of the workspace has no valid fill value", 1)) {
    require(buffers_.add(static_cast<std::size_t>(bytes), static_cast<std::uint32_t>(word), clear),
            "the workspace has more than 100 buffers");
  }
}

void LaunchBuilder::unused_workspace() {
  require(buffers_.add(0, 0, Clear::none), "the workspace has more than 100 buffers");
}

void LaunchBuilder::begin_struct(double alignment) {
  const bool fits = within(alignment, 0, kMostAlignment, "a struct has no valid alignment") &&
                    require(alignment == 0.0 || std::exp2(std::ilogb(alignment)) == alignment,
                            "a struct's alignment is not a power of two");
  arguments_.begin_struct(fits && alignment > 0.0 ? static_cast<std::size_t>(alignment) : 1);
}

template <typename Integer>
void LaunchBuilder::put_integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  const double least = std::max(static_cast<double>(Limits::min()), -kMostExact);
  const double most = std::min(static_cast<double>(Limits::max()), kMostExact);
  if (within(value, least, most, "an argument is not an integer of its type")) {
    const auto bits = static_cast<Integer>(value);
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

template <typename Float>
void LaunchBuilder::put_float(double value, bool may_be_infinite) {
  constexpr double kMost = std::numeric_limits<Float>::max();
  if (!(std::abs(value) <= kMost || (may_be_infinite && std::isinf(value)))) {
    within(std::numeric_limits<double>::quiet_NaN(), -kMost, kMost,
           "an argument is not a number of its type");
    return;
  }
  const auto bits = static_cast<Float>(value);
  arguments_.put(&bits, sizeof bits, sizeof bits);
}

void LaunchBuilder::put_scalar(Call type, double value) {
  switch (type) {
    case Call::int8:
      return put_integer<std::int8_t>(value);
    case Call::uint8:
      return put_integer<std::uint8_t>(value);
    case Call::int16:
      return put_integer<std::int16_t>(value);
    case Call::uint16:
      return put_integer<std::uint16_t>(value);
    case Call::int32:
      return put_integer<std::int32_t>(value);
    case Call::uint32:
      return put_integer<std::uint32_t>(value);
    case Call::int64:
      return put_integer<std::int64_t>(value);
    case Call::uint64:
      return put_integer<std::uint64_t>(value);
    case Call::float32:
    case Call::float32_or_infinity:
      return put_float<float>(value, type == Call::float32_or_infinity);
    case Call::float64:
    case Call::float64_or_infinity:
      return put_float<double>(value, type == Call::float64_or_infinity);
    default:
      return put_integer<std::uint8_t>(flag(value, "an argument is neither true nor false"));
  }
}

/// The address is 0 if only sizes are requested.
bool LaunchBuilder::place(Operand tensor, double offset_bytes, std::uint64_t& address) {
  const int index = static_cast<int>(tensor) - kTensorCount;
  if (!within(offset_bytes, 0, kMostBytes, "an address's offset is not a number of bytes") ||
      !require(index < buffers_.count(), "an argument points to a buffer that does not exist")) {
    return false;
  }
  address = static_cast<std::uint64_t>(offset_bytes);
  if (index < 0) {
    address += addresses_.operands[static_cast<int>(tensor)];
  } else if (addresses_.workspace != 0) {
    address += addresses_.workspace + buffers_.offset(index);
  }
  return true;
}

void LaunchBuilder::put_address(Operand tensor, double offset_bytes) {
  std::uint64_t bits = 0;
  if (place(tensor, offset_bytes, bits)) {
    arguments_.put(&bits, sizeof bits, sizeof bits);
  }
}

/// Reads the values of Call::tensor_map.
bool LaunchBuilder::read_map(const double* values, int count, TensorMap& map) {
  constexpr int kBeforeArrays = 6;
  constexpr double kMostOfEnum = 31;
  int next = 1;  // after offset_bytes
  for (int* member :
       {&map.element_type, &map.interleave, &map.swizzle, &map.l2_promotion, &map.oob_fill}) {
    if (!within(values[next], 0, kMostOfEnum, "a property of a tensor map has no value", next)) {
      return false;
    }
    *member = static_cast<int>(values[next++]);
  }
  const int rank = map.dimensions = (count - kBeforeArrays + 1) / 4;
  const auto read = [&](double* array, int size, double most) {
    for (int i = 0; i < size; ++i, ++next) {
      within(values[next], 0, most, "a tensor map has an invalid extent", next);
      array[i] = values[next];
    }
  };
  if (require(rank >= 1 && rank <= 5, "a tensor map has more than 5 dimensions, or none")) {
    read(map.sizes, rank, kMostBytes);
    read(map.strides_bytes, rank - 1, kMostBytes);
    read(map.box, rank, kMost32);
    read(map.element_strides, rank, kMost32);
  }
  return failure_.what == nullptr;
}

void LaunchBuilder::put_map(Operand tensor, const double* values, int count) {
  alignas(kMapBytes) unsigned char bytes[kMapBytes] = {};
  std::uint64_t at = 0;
  TensorMap map{};
  if (!place(tensor, values[0], at) || !read_map(values, count, map)) {
    return;
  }
  if (const char* refused = encode_ == nullptr ? nullptr : encode_(map, at, bytes)) {
    require(false, refused);
  }
  arguments_.put(bytes, sizeof bytes, kMapAlignment);
}

void LaunchBuilder::add(Call call, const double* values, int count, Operand tensor) {
  switch (call) {
    case Call::block:
      return set(shape_.block, values, kMaxBlock, "the thread block is beyond CUDA's limits");
    case Call::grid:
      return set(shape_.grid, values, kMaxGrid, "the grid is beyond CUDA's limits");
    case Call::cluster:
      return set_cluster(values);
    case Call::dynamic_smem_bytes:
      if (within(values[0], 0, std::numeric_limits<std::int32_t>::max(),
                 "the shared memory is not a number of bytes")) {
        shape_.dynamic_smem_bytes = static_cast<unsigned>(values[0]);
      }
      return;
    case Call::cooperative:
      shape_.cooperative = flag(values[0], "whether a launch is cooperative is not known");
      return;
    case Call::programmatic_stream_serialization:
      shape_.programmatic_stream_serialization =
          flag(values[0], "whether a launch is serialized by programs is not known");
      return;
    case Call::smem_carveout_percent:
      if (within(values[0], -1, 100, "the share of shared memory is not a percentage or -1")) {
        shape_.smem_carveout_percent = static_cast<int>(values[0]);
      }
      return;
    case Call::begin_argument:
      return arguments_.begin_argument();
    case Call::end_argument:
      return arguments_.end_argument();
    case Call::begin_struct:
      return begin_struct(values[0]);
    case Call::end_struct:
      return arguments_.end_struct();
    case Call::address:
      return put_address(tensor, values[0]);
    case Call::tensor_map:
      return put_map(tensor, values, count);
    default:
      return put_scalar(call, values[0]);
  }
}

}  // namespace fatune_attention::detail

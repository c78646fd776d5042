#pragma once

// How a launch is described: extents, the bytes of the arguments, and where the buffers of a kernel
// lie in the caller's workspace and what they are filled with.

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// Lays arguments out one after another, and the items of each as C lays out a struct: an item lies
/// at a multiple of its alignment; a struct has at least the alignment of its items, and its size
/// is a multiple of that. Padding is 0. An argument without items is left out. If something does
/// not fit, the layout fails. Allocates nothing.
class ArgumentLayout {
 public:
  static constexpr std::size_t kMostBytes = 32764;  ///< CUDA's limit
  static constexpr int kMostArguments = 200;
  static constexpr int kMostItems = 4096;  ///< of all arguments

  struct Argument {
    std::size_t offset;
    std::size_t bytes;
    std::size_t alignment;
  };

  ArgumentLayout() { open(1); }  // the first frame holds the arguments

  void begin_argument() { open(1); }
  void end_argument();
  /// `alignment`: the least alignment of the struct; a power of two.
  void begin_struct(std::size_t alignment) { open(alignment); }
  void end_struct() { close(); }
  /// `alignment`: a power of two.
  void put(const void* value, std::size_t bytes, std::size_t alignment);

  /// Returns why it failed, or null if it did not.
  const char* failure() const { return failure_; }
  int count() const { return count_; }
  const Argument& argument(int index) const { return arguments_[index]; }
  int item_count() const { return item_count_; }
  /// The offset of an item among all arguments. It is final once its argument has ended.
  std::size_t item_offset(int item) const { return items_[item]; }
  std::size_t bytes() const { return end_; }  ///< the size of all arguments
  const unsigned char* data() const { return bytes_; }
  unsigned char* data() { return bytes_; }

 private:
  /// A struct or an argument that has not ended yet.
  struct Frame {
    std::size_t begin;
    std::size_t alignment;
    int first_item;
  };
  static constexpr int kMostDepth = 64;

  void open(std::size_t alignment);
  Frame close();
  bool grow(std::size_t end);
  void move(const Frame& frame, std::size_t begin);

  // Of each array only the first elements, which are counted, are initialised.
  unsigned char bytes_[kMostBytes];
  std::size_t end_ = 0;
  std::uint16_t items_[kMostItems];
  int item_count_ = 0;
  Frame frames_[kMostDepth];
  int depth_ = 0;
  Argument arguments_[kMostArguments];
  int count_ = 0;
  const char* failure_ = nullptr;
};

/// When a buffer is filled. `once`: kernels leave it as the fill left it. `timed`: before each
/// launch, like `before_launch`, but measured times of the kernel include the fill. `none`:
/// contents do not matter.
enum class Clear : int { once, before_launch, timed, none };

/// A part of the workspace that is filled with a 32-bit word before the kernel.
struct Fill {
  std::size_t offset;
  std::size_t words;
  std::uint32_t word;
};

/// Places buffers. Buffers of Clear::once that are filled with 0 lie in the first 64 KiB, as far as
/// there is room, and nothing else does. Whatever problems follow each other, that part is 0
/// between launches, so that a workspace that was clean at first need not be filled there. The
/// other buffers follow it. Each is 256-byte aligned.
class WorkspaceLayout {
 public:
  static constexpr std::size_t kCleanBytes = 65536;
  static constexpr std::size_t kAlignment = 256;
  static constexpr int kMostBuffers = 100;

  /// Returns false if there are too many.
  bool add(std::size_t bytes, std::uint32_t word, Clear clear);

  int count() const { return count_; }
  std::size_t offset(int buffer) const { return offsets_[buffer]; }
  std::size_t bytes() const { return end_ > kCleanBytes ? end_ : clean_end_; }

  /// Calls use(fill) for each part to fill, until it returns false.
  template <typename Use>
  void for_each_fill(bool is_clean, Use use) const {
    const Fill clean{0, clean_end_ / sizeof(std::uint32_t), 0};
    bool goes_on = is_clean || clean_end_ == 0 || use(clean);
    for (int i = 0; goes_on && i < fill_count_; ++i) {
      goes_on = use(fills_[i]);
    }
  }

 private:
  std::size_t place(std::size_t bytes, std::uint32_t word, Clear clear);

  // Of each array only the first elements, which are counted, are initialised.
  std::size_t offsets_[kMostBuffers];
  int count_ = 0;
  Fill fills_[kMostBuffers];  // fills after the clean part
  int fill_count_ = 0;
  std::size_t clean_end_ = 0;
  std::size_t end_ = kCleanBytes;
};

/// A TMA tensor map: the arguments of cuTensorMapEncodeTiled. Dimension 0 is the innermost. The
/// values of the enums are the driver's.
struct TensorMap {
  int dimensions;
  int element_type;
  int interleave;
  int swizzle;
  int l2_promotion;
  int oob_fill;
  double sizes[5];          ///< elements
  double strides_bytes[4];  ///< of dimensions 1 and up
  double box[5];            ///< elements
  double element_strides[5];
};

/// The tensors that arguments may point to. Buffers of the workspace follow them: see buffer().
enum class Operand : int {
  q,
  k,
  v,
  o,
  lse,
  seq_lens_kv,
  sinks,
  page_table,
  cu_seqlens_q,
  cu_seqlens_kv,
  k_scales,
  v_scales,
  q_scales
};

inline constexpr int kTensorCount = 13;

/// The buffer of the workspace that was described by that call of workspace(), from 0.
constexpr Operand buffer(int index) { return static_cast<Operand>(kTensorCount + index); }

/// Device addresses; 0 if only sizes are requested.
struct Addresses {
  std::uint64_t operands[kTensorCount] = {};  ///< by Operand
  std::uint64_t workspace = 0;
};

/// Writes the driver's 128 bytes of a map, 64-byte aligned. Returns null, or why that is not
/// possible.
using EncodeTensorMap = const char* (*)(const TensorMap& map, std::uint64_t address, void* bytes);

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;

  std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

/// A launch without its arguments.
struct LaunchShape {
  Dim3 grid;     ///< blocks
  Dim3 block;    ///< threads
  Dim3 cluster;  ///< blocks; divides the grid
  unsigned dynamic_smem_bytes = 0;
  bool cooperative = false;
  bool programmatic_stream_serialization = false;
  int smem_carveout_percent = -1;  ///< -1: all of an SM's memory is shared memory
};

/// What a launch is described with.
enum class Call : int {
  block,
  dynamic_smem_bytes,
  grid,
  cluster,
  cooperative,
  programmatic_stream_serialization,
  smem_carveout_percent,
  begin_argument,
  end_argument,
  begin_struct,  ///< the least alignment of the struct; 0: that of its items
  end_struct,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,  ///< as all numbers of expressions, at most 2^53 in magnitude
  uint64,
  boolean,
  float32,
  float64,
  float32_or_infinity,
  float64_or_infinity,
  address,    ///< offset_bytes from the beginning of the tensor
  tensor_map  ///< offset_bytes, the five enums of TensorMap, and then its arrays in their order
};

/// Why a builder has failed.
struct LaunchFailure {
  const char* what = nullptr;
  int value = -1;  ///< index of the value of the call that is out of range; -1: not because of one
  double least = 0;
  double most = 0;
};

/// Both fatune and the code that it generates describe a launch by these calls, in this order:
///
///   add(): block, grid, cluster, and the other properties that are not the usual ones
///   workspace() for each buffer; the first is buffer(0)
///   add(): begin_argument, items, end_argument for each argument
///
/// An argument without items is left out. If a value does not fit its type, or is beyond CUDA's
/// limits, the builder fails. From then on calls have no effect. Allocates nothing.
class LaunchBuilder {
 public:
  /// Computes sizes only: addresses and tensor maps are 0.
  LaunchBuilder() = default;
  LaunchBuilder(const Addresses& addresses, EncodeTensorMap encode)
      : addresses_(addresses), encode_(encode) {}

  /// Precondition: as many values as the call takes: x, y and z of extents, else one, if any.
  void add(Call call, const double* values, int count, Operand tensor = Operand::q);
  void add(Call call, std::initializer_list<double> values = {}, Operand tensor = Operand::q) {
    add(call, values.begin(), static_cast<int>(values.size()), tensor);
  }

  /// A buffer of 1 byte to 1 TiB.
  void workspace(double bytes, double word, Clear clear);
  /// Takes the place of a buffer that no argument of this launch points to.
  void unused_workspace();

  bool ok() const { return failure() == nullptr; }
  /// Returns why it failed, or null if it did not.
  const char* failure() const {
    return failure_.what != nullptr ? failure_.what : arguments_.failure();
  }
  const LaunchFailure& details() const { return failure_; }

  const LaunchShape& shape() const { return shape_; }
  const WorkspaceLayout& buffers() const { return buffers_; }
  const ArgumentLayout& arguments() const { return arguments_; }
  ArgumentLayout& arguments() { return arguments_; }

 private:
  bool require(bool holds, const char* otherwise);
  bool within(double value, double least, double most, const char* otherwise, int index = 0);
  void set(Dim3& extents, const double* values, const double (&most)[3], const char* otherwise);
  void set_cluster(const double* values);
  bool flag(double value, const char* otherwise);
  void begin_struct(double alignment);
  void put_scalar(Call type, double value);
  template <typename Integer>
  void put_integer(double value);
  template <typename Float>
  void put_float(double value, bool may_be_infinite);
  bool place(Operand tensor, double offset_bytes, std::uint64_t& address);
  void put_address(Operand tensor, double offset_bytes);
  void put_map(Operand tensor, const double* values, int count);
  bool read_map(const double* values, int count, TensorMap& map);

  Addresses addresses_;
  EncodeTensorMap encode_ = nullptr;
  LaunchShape shape_;
  WorkspaceLayout buffers_;
  ArgumentLayout arguments_;
  LaunchFailure failure_;
};

}  // namespace fatune_attention::detail

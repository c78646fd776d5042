// How generated code describes a launch: extents, workspace, and the bytes of the arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "argument_layout.hpp"
#include "kernel_table.hpp"
#include "workspace_layout.hpp"

namespace fatune_attention::detail {

/// A TMA tensor map: the arguments of cuTensorMapEncodeTiled. Dimension 0 is the innermost. The
/// values of the enums are the driver's.
struct TensorMap {
  int element_type;
  int dimensions;
  double sizes[5];          ///< elements
  double strides_bytes[4];  ///< of dimensions 1 and up
  double box[5];            ///< elements
  double element_strides[5];
  int interleave;
  int swizzle;
  int l2_promotion;
  int oob_fill;
};

/// The tensors that arguments may point to.
enum class Operand : int { q, k, v, o, lse };

/// Device addresses; 0 if only sizes are requested.
struct Addresses {
  std::uint64_t operands[5] = {};  ///< by Operand
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

/// Generated code calls, in this order:
///
///   grid(), block(), cluster(), and the other properties that are not the usual ones
///   workspace() for each buffer; the first is buffer 0
///   begin_argument(), items, end_argument() for each argument; or standard_arguments() for
///   families without "arguments"
///
/// If a value does not fit its type, or is beyond CUDA's limits, the builder fails. From then on
/// calls have no effect. Allocates nothing.
class LaunchBuilder {
 public:
  /// Computes sizes only: addresses and tensor maps are 0.
  LaunchBuilder() = default;
  LaunchBuilder(const Addresses& addresses, EncodeTensorMap encode)
      : addresses_(addresses), encode_(encode) {}

  void grid(double x, double y, double z);
  void block(double x, double y, double z);
  void cluster(double x, double y, double z);
  void dynamic_smem_bytes(double bytes);
  void cooperative(double flag) { shape_.cooperative = flag != 0.0; }
  void programmatic_stream_serialization(double flag) {
    shape_.programmatic_stream_serialization = flag != 0.0;
  }
  void smem_carveout_percent(double percent);

  /// A buffer of 1 byte to 1 TiB.
  void workspace(double bytes, double word, Clear clear);
  /// Takes the place of a buffer that no argument of this launch points to.
  void unused_workspace();

  /// An argument without items is left out.
  void begin_argument() { arguments_.begin_argument(); }
  void end_argument() { arguments_.end_argument(); }
  /// `alignment`: the least alignment of the struct; 0: that of its items.
  void begin_struct(double alignment);
  void end_struct() { arguments_.end_struct(); }

  void int8(double value);
  void uint8(double value);
  void int16(double value);
  void uint16(double value);
  void int32(double value);
  void uint32(double value);
  /// Like all numbers of expressions, 64-bit integers are at most 2^53 in magnitude.
  void int64(double value);
  void uint64(double value);
  /// Infinity is allowed only if the expression names it.
  void float32(double value, bool names_infinity = false);
  void float64(double value, bool names_infinity = false);
  void boolean(double value);  ///< one byte: 0 or 1

  void tensor(Operand operand, double offset_bytes);
  void buffer(int index, double offset_bytes);
  void tensor_map(Operand operand, double offset_bytes, const TensorMap& map);
  void buffer_map(int index, double offset_bytes, const TensorMap& map);

  /// The only argument of kernels with the ABI "attention_forward":
  /// kernels/common/attention_args.h.
  void standard_arguments(const Facts& facts);

  bool ok() const { return failure() == nullptr; }
  /// Returns why it failed, or null if it did not.
  const char* failure() const { return failure_ != nullptr ? failure_ : arguments_.failure(); }

  const LaunchShape& shape() const { return shape_; }
  const WorkspaceLayout& buffers() const { return buffers_; }
  const ArgumentLayout& arguments() const { return arguments_; }
  ArgumentLayout& arguments() { return arguments_; }

 private:
  template <typename Integer>
  void integer(double value);
  bool require(bool holds, const char* otherwise);
  void set(Dim3& extents, const double (&values)[3], const double (&most)[3],
           const char* otherwise);
  bool address(std::uint64_t base, double offset_bytes, std::uint64_t& address);
  std::uint64_t base_of(Operand operand) const;
  std::uint64_t base_of_buffer(int index);
  void put_address(std::uint64_t base, double offset_bytes);
  void put_map(std::uint64_t base, double offset_bytes, const TensorMap& map);

  Addresses addresses_;
  EncodeTensorMap encode_ = nullptr;
  LaunchShape shape_;
  WorkspaceLayout buffers_;
  ArgumentLayout arguments_;
  const char* failure_ = nullptr;
};

}  // namespace fatune_attention::detail

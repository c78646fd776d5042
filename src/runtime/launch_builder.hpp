// How a launch is described: extents, workspace, and the bytes of the arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "argument_layout.hpp"
#include "kernel_table.hpp"
#include "workspace_layout.hpp"

namespace fatune_attention::detail {

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
enum class Operand : int { q, k, v, o, lse };

inline constexpr int kTensorCount = 5;

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

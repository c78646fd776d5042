#include "launch.hpp"

#include "driver.hpp"

namespace fatune_attention::detail {
namespace {

template <typename Number, std::size_t kCount>
struct Numbers {
  Number items[kCount] = {};

  Numbers(const double* values, int count) {
    for (int i = 0; i < count; ++i) {
      items[i] = static_cast<Number>(values[i]);
    }
  }
};

/// The attributes of a launch. An ordinary launch has none.
class LaunchAttributes {
 public:
  explicit LaunchAttributes(const LaunchShape& shape) {
    if (shape.cluster.volume() > 1) {
      add(cuda::kAttributeClusterDimension).cluster = {shape.cluster.x, shape.cluster.y,
                                                       shape.cluster.z};
    }
    if (shape.cooperative) {
      add(cuda::kAttributeCooperative).flag = 1;
    }
    if (shape.programmatic_stream_serialization) {
      add(cuda::kAttributeProgrammaticStreamSerialization).flag = 1;
    }
  }

  LaunchAttribute* items() { return items_; }
  unsigned count() const { return count_; }

 private:
  LaunchAttribute::Value& add(int id) {
    items_[count_].id = id;
    return items_[count_++].value;
  }

  LaunchAttribute items_[3] = {};
  unsigned count_ = 0;
};

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uint64_t>(data); }

Result fill(const WorkspaceLayout& buffers, const Workspace& workspace, void* stream) {
  Result result;
  buffers.for_each_fill(workspace.is_clean, [&](const Fill& part) {
    result = result_of(driver().cuMemsetD32Async(address_of(workspace.data) + part.offset,
                                                 part.word, part.words, stream));
    return static_cast<bool>(result);
  });
  return result;
}

Result launch_kernel(void* kernel, const LaunchShape& shape, ArgumentLayout& arguments,
                     void* stream) {
  void* pointers[ArgumentLayout::kMostArguments];
  for (int i = 0; i < arguments.count(); ++i) {
    pointers[i] = arguments.data() + arguments.argument(i).offset;
  }
  LaunchAttributes attributes(shape);
  const LaunchConfig config{{shape.grid.x, shape.grid.y, shape.grid.z},
                            {shape.block.x, shape.block.y, shape.block.z},
                            shape.dynamic_smem_bytes,
                            stream,
                            attributes.items(),
                            attributes.count()};
  return result_of(driver().cuLaunchKernelEx(&config, kernel, pointers, nullptr));
}

}  // namespace

const char* encode_by_driver(const TensorMap& map, std::uint64_t address, void* bytes) {
  const int rank = map.dimensions;
  const Numbers<std::uint64_t, 5> sizes(map.sizes, rank);
  const Numbers<std::uint64_t, 4> strides(map.strides_bytes, rank - 1);
  const Numbers<std::uint32_t, 5> box(map.box, rank);
  const Numbers<std::uint32_t, 5> element_strides(map.element_strides, rank);
  const int error = driver().cuTensorMapEncodeTiled(
      bytes, map.element_type, static_cast<std::uint32_t>(rank), reinterpret_cast<void*>(address),
      sizes.items, strides.items, box.items, element_strides.items, map.interleave, map.swizzle,
      map.l2_promotion, map.oob_fill);
  return error == cuda::kSuccess ? nullptr : "the driver refuses a tensor map with these strides";
}

Result launch(void* kernel, LaunchBuilder& builder, const Workspace& workspace, void* stream) {
  const Result filled = fill(builder.buffers(), workspace, stream);
  return filled ? launch_kernel(kernel, builder.shape(), builder.arguments(), stream) : filled;
}

}  // namespace fatune_attention::detail

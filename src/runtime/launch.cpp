#include "launch.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "driver.hpp"

namespace fatune_attention::detail {
namespace {

constexpr std::uint64_t kMostPortableCluster = 8;  // blocks

struct LoadedKernel {
  std::atomic<void*> handle{nullptr};
  std::atomic<int> settings[kMostDevices] = {};  ///< settings_of() the last shape; 0: none
};

/// One for each kernel of the table. Null: out of memory.
LoadedKernel* loaded_kernels() {
  static LoadedKernel* const all =
      new (std::nothrow) LoadedKernel[static_cast<std::size_t>(kTable.kernels.count)];
  return all;
}

/// The settings that a launch needs, as a number that is not 0.
int settings_of(const LaunchShape& shape) {
  return 2 * (shape.smem_carveout_percent + 2) +
         (shape.cluster.volume() > kMostPortableCluster ? 1 : 0);
}

Result set(int attribute, std::int64_t value, void* kernel, int device) {
  return result_of(
      driver().cuKernelSetAttribute(attribute, static_cast<int>(value), kernel, device));
}

/// Allows as much shared memory as the device has for a block. Launches say how much of it they
/// use.
Result apply(const MachineCode& code, const CurrentDevice& on, const LaunchShape& shape,
             void* kernel) {
  const std::int64_t most_smem = on.facts->smem_per_block_optin_bytes - code.static_smem_bytes;
  const int carveout = shape.smem_carveout_percent < 0 ? 100 : shape.smem_carveout_percent;
  Result result = set(cuda::kMaxDynamicSmemBytes, most_smem, kernel, on.ordinal);
  if (result) {
    result = set(cuda::kPreferredSmemCarveout, carveout, kernel, on.ordinal);
  }
  if (result && shape.cluster.volume() > kMostPortableCluster) {
    result = set(cuda::kNonPortableClusterSizeAllowed, 1, kernel, on.ordinal);
  }
  return result;
}

Result load(const MachineCode& code, std::atomic<void*>& handle) {
  void* library = nullptr;
  void* kernel = nullptr;
  Result result = result_of(
      driver().cuLibraryLoadData(&library, code.cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
  if (result) {
    result = result_of(driver().cuLibraryGetKernel(&kernel, library, code.entry));
  }
  if (result) {
    handle.store(kernel, std::memory_order_release);
  }
  return result;
}

/// Loads the kernel, unless it is loaded, and applies the settings for launches of this shape.
Result set_up(const MachineCode& code, const CurrentDevice& on, const LaunchShape& shape,
              LoadedKernel& kernel) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  Result result;
  if (kernel.handle.load(std::memory_order_relaxed) == nullptr) {
    result = load(code, kernel.handle);
  }
  if (result) {
    result = apply(code, on, shape, kernel.handle.load(std::memory_order_relaxed));
  }
  if (result) {
    kernel.settings[on.ordinal].store(settings_of(shape), std::memory_order_release);
  }
  return result;
}

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

Result prepare_kernel(int index, const CurrentDevice& on, const LaunchShape& shape, void*& handle) {
  if (loaded_kernels() == nullptr) {
    return {Status::driver_error, "there is no memory for the kernels' handles"};
  }
  LoadedKernel& kernel = loaded_kernels()[index];
  Result result;
  if (kernel.settings[on.ordinal].load(std::memory_order_acquire) != settings_of(shape)) {
    result = set_up(kTable.kernels[index], on, shape, kernel);
  }
  handle = kernel.handle.load(std::memory_order_acquire);
  return result;
}

Result load_code(void* handle) {
  void* function = nullptr;
  const Result result = result_of(driver().cuKernelGetFunction(&function, handle));
  return result && driver().cuFuncLoad != nullptr ? result_of(driver().cuFuncLoad(function))
                                                  : result;
}

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

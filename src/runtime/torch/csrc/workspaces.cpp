#include "workspaces.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "call.hpp"
#include "driver.hpp"

namespace fatune_attention::torch_binding {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;  // large enough that it seldom grows

/// Memory of the driver and not of PyTorch, whose allocator may return memory from a CUDA graph's
/// pool. Freeing it waits for the kernels that use it.
class KeptMemory {
 public:
  KeptMemory(std::uint64_t address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  ~KeptMemory() { driver().free(address_); }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  std::size_t bytes() const { return bytes_; }
  void* data() const { return reinterpret_cast<void*>(address_); }

 private:
  std::uint64_t address_;
  std::size_t bytes_;
};

using Memory = std::shared_ptr<const KeptMemory>;

struct Workspaces {
  std::mutex mutex;
  std::map<std::pair<std::int32_t, void*>, Memory> of_stream;
};

/// Never destroyed: at exit, CUDA may be gone before its memory can be freed.
Workspaces& workspaces() {
  static auto* const all = new Workspaces;
  return *all;
}

/// Returns memory filled with zeros, or null if the driver has no memory.
Memory zeros(std::size_t bytes, void* stream) {
  std::uint64_t address = 0;
  if (driver().allocate(&address, bytes) != 0) {
    return nullptr;
  }
  auto memory = std::make_shared<const KeptMemory>(address, bytes);
  check_driver(driver().clear(address, 0, bytes, stream), "cuMemsetD8Async");
  return memory;
}

/// Returns the stream's own memory of at least `bytes`, or null if the driver has no memory.
Memory kept_memory(std::int32_t device_index, void* stream, std::size_t bytes) {
  const std::scoped_lock lock(workspaces().mutex);
  Memory& kept = workspaces().of_stream[{device_index, stream}];
  if (kept == nullptr || kept->bytes() < bytes) {
    kept = zeros(std::max(bytes, kLeastBytes), stream);
  }
  return kept;
}

/// Returns memory of PyTorch for one launch.
HeldWorkspace one_launch(std::int32_t device_index, std::size_t bytes) {
  const auto tensor = std::make_shared<const TorchTensor>(
      empty_bytes(static_cast<std::int64_t>(bytes), device_index));
  return {tensor, {tensor->data_ptr(), bytes, false}};
}

}  // namespace

HeldWorkspace take_workspace(std::int32_t device_index, void* stream, std::size_t bytes) {
  if (bytes == 0) {
    return {};
  }
  const Memory kept = is_capturing(stream) ? nullptr : kept_memory(device_index, stream, bytes);
  return kept == nullptr ? one_launch(device_index, bytes)
                         : HeldWorkspace{kept, {kept->data(), kept->bytes(), true}};
}

}  // namespace fatune_attention::torch_binding

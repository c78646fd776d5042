#include "measure/kernel_buffers.hpp"

#include <algorithm>

namespace fatune {
namespace {

constexpr std::int64_t kWordBytes = 4;

std::int64_t words_of(const KernelBuffer& buffer) {
  return (buffer.bytes + kWordBytes - 1) / kWordBytes;
}

}  // namespace

KernelBuffers::KernelBuffers(const std::vector<KernelBuffer>& buffers) {
  if (buffers.empty()) {
    return;
  }
  const gpu::Stream stream;
  for (const KernelBuffer& buffer : buffers) {
    if (!buffer.output.empty()) {
      continue;
    }
    buffers_.push_back({buffer, gpu::DeviceBuffer(words_of(buffer) * kWordBytes)});
    queue_fill(buffers_.back(), stream);
  }
  stream.synchronize();
}

void KernelBuffers::queue_fill(const Filled& buffer, const gpu::Stream& stream) {
  gpu::fill_words_async(buffer.memory.address(), buffer.of.word, words_of(buffer.of), stream);
}

std::optional<gpu::DevicePtr> KernelBuffers::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(buffers_, [&](const Filled& buffer) { return buffer.of.name == name; });
  return found == buffers_.end() ? std::nullopt : std::optional(found->memory.address());
}

void KernelBuffers::queue_clear(ClearTime time, const gpu::Stream& stream) const {
  for (const Filled& buffer : buffers_) {
    if (buffer.of.clear == (time == ClearTime::timed ? "timed" : "before_launch")) {
      queue_fill(buffer, stream);
    }
  }
}

}  // namespace fatune

#pragma once

#include <cstdint>
#include <string>

namespace fatune::gpu {

/// A range that profilers show (NVTX), of this thread: ranges of a thread end in the reverse order
/// of their beginnings. Without a profiler it costs a few nanoseconds; built without NVTX's header
/// (a toolkit before 10.0), it does nothing.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange();
};

/// A range of the process, for spans that do not nest.
class NvtxSpan {
 public:
  explicit NvtxSpan(const std::string& name);
  NvtxSpan(const NvtxSpan&) = delete;
  NvtxSpan& operator=(const NvtxSpan&) = delete;
  ~NvtxSpan();

 private:
  std::uint64_t id_;
};

}  // namespace fatune::gpu

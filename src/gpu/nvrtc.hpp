#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/context.hpp"
#include "gpu/library.hpp"
#include "model/kernel_code.hpp"

namespace fatune::gpu {

/// NVRTC itself failed (not the source): out of memory, a call out of order, no builtins library.
class NvrtcError : public Error {
 public:
  NvrtcError(int result, const std::string& call, const std::string& log = {});
};

/// Loads NVRTC at the first call of the process and returns the outcome. Never throws. The library
/// is that of cuda_installation() (base/cuda_installation.hpp), or the file that the environment
/// variable FATUNE_NVRTC names. Everything below throws Error(bad_file) if NVRTC cannot be used.
[[nodiscard]] const LibraryStatus& probe_nvrtc();

struct NvrtcVersion {
  int major = 0;
  int minor = 0;

  auto operator<=>(const NvrtcVersion&) const = default;
};

[[nodiscard]] NvrtcVersion nvrtc_version();
[[nodiscard]] std::string nvrtc_version_text();  ///< "13.0"
/// The sm numbers that NVRTC compiles for, ascending: 75, 80, ..., 90, ...
[[nodiscard]] std::vector<int> nvrtc_supported_sms();

void destroy_program(void* program) noexcept;

/// One NVRTC program: a source with its headers, all in memory. Different programs may be compiled
/// by different threads at the same time; one program belongs to one thread.
class Program {
 public:
  explicit Program(const SourceBundle& sources);

  /// Requests a template instantiation ("kernel<64, true>"), so that lowered_name() can return its
  /// name.
  void add_name_expression(const std::string& expression);
  /// Returns false if the source does not compile; log() says why. Throws NvrtcError for any other
  /// failure, including an option that NVRTC does not know.
  [[nodiscard]] bool compile(const std::vector<std::string>& options);

  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::vector<char> cubin() const;  ///< needs a real --gpu-architecture (sm_XX)
  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::string lowered_name(const std::string& expression) const;

 private:
  Handle<void*, destroy_program> program_;
};

}  // namespace fatune::gpu

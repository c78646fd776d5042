#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/arch.hpp"
#include "core/kernel_arguments.hpp"
#include "core/members.hpp"

namespace fatune {

/// One source or header as the compiler sees it; `name` is what #include says.
struct SourceFile {
  std::string name;
  std::string text;
};

/// A family's translation unit and every header it may include; shared by all its configurations.
/// The compiler finds no other file.
struct SourceBundle {
  SourceFile main;
  std::vector<SourceFile> headers;
};

/// Everything that decides the machine code of one configuration.
struct CompileRequest {
  std::string
      label;  ///< the configuration's short form: for logs and messages, not part of the key
  std::shared_ptr<const SourceBundle> sources;
  std::vector<std::string> options;  ///< NVRTC options other than architecture and defines
  std::vector<std::pair<std::string, std::string>> defines;
  std::string entry_point;  ///< kernel name: extern "C" name, or a template instantiation
  bool entry_is_template = false;
  Arch arch;
};

/// A note of ptxas about a kernel's asynchronous matrix products or register counts.
struct AssemblerNote {
  std::string code;
  std::string text;
  bool loses_speed = false;
};
FATUNE_DESCRIBED(AssemblerNote, (code, "ptxas' number of the note: C7512"),
                 (text, "its text without the names of functions"),
                 (loses_speed,
                  "true if it costs speed: ptxas serialised the products, or ignored setmaxnreg"))

/// "C7512: wgmma.mma_async instructions are serialized due to ...; C7519: ...".
[[nodiscard]] std::string notes_text(const std::vector<AssemblerNote>& notes);

/// The resources that the machine code of one kernel needs.
struct ResourceFacts {
  int registers_per_thread = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t static_smem_bytes = 0;
  std::int64_t constant_bytes = 0;
  std::int64_t code_bytes = 0;
  std::vector<AssemblerNote> notes = {};
};
FATUNE_DESCRIBED(ResourceFacts, (registers_per_thread, "registers per thread"),
                 (spill_store_bytes, "bytes of spill stores per thread (static count)"),
                 (spill_load_bytes, "bytes of spill loads per thread (static count)"),
                 (local_bytes, "stack frame per thread in bytes"),
                 (static_smem_bytes, "static shared memory per block in bytes"),
                 (constant_bytes, "constant memory in bytes"),
                 (code_bytes, "size of the machine code in bytes: the kernel's text section"),
                 (notes, "ptxas' notes about asynchronous matrix products and register counts"))

/// Machine code with its facts. A plain value: it can be cached, stored and sent to a worker.
struct Artifact {
  std::string lowered_name;  ///< the mangled name to look up in the module
  std::vector<char> cubin;   ///< empty if only PTX was compiled; then there are no facts either
  std::string ptx;           ///< empty unless requested
  ResourceFacts facts;
  std::string log;          ///< NVRTC's log: warnings and ptxas' report
  std::string toolchain;    ///< "NVRTC 13.0"
  double compile_ms = 0.0;  ///< of the compilation that produced it, also when read from the cache
  bool from_cache = false;
  std::string key;  ///< content address (hex)
};

/// How the driver launches a kernel, apart from its extents.
struct LaunchAttributes {
  bool cooperative = false;
  bool programmatic_stream_serialization = false;
  /// The percentage of an SM's memory to use as shared memory; -1: all of it.
  std::int64_t smem_carveout_percent = -1;

  auto operator<=>(const LaunchAttributes&) const = default;
};

/// How to launch a kernel on one problem, and with which arguments.
struct LaunchGeometry {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t dynamic_smem_bytes = 0;
  std::array<std::int64_t, 3> cluster{1, 1, 1};  ///< blocks
  LaunchAttributes attributes = {};
  KernelArguments arguments = {};

  auto operator<=>(const LaunchGeometry&) const = default;
};

[[nodiscard]] std::int64_t block_count(const LaunchGeometry& geometry);
[[nodiscard]] std::int64_t thread_count(const LaunchGeometry& geometry);  ///< of one block

/// True if two launches are equal on the same problem. Standard arguments follow from the problem
/// and are not compared.
[[nodiscard]] bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b);

/// SHA-256 of the sources of each kernel family, by its name.
using SourceHashes = std::map<std::string, std::string>;

}  // namespace fatune

#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/members.hpp"
#include "base/source_line.hpp"
#include "model/device_limits.hpp"

namespace fatune {

/// The bytes of a scalar of any type.
struct ScalarPiece {
  std::int64_t offset = 0;  ///< within the argument, as for all pieces
  std::int64_t bytes = 0;   ///< 1, 4 or 8
  std::uint64_t bits = 0;   ///< little-endian; those above `bytes` are 0
  std::string type = {};    ///< what family.json calls it, "int32" or "float"; shown to people

  auto operator<=>(const ScalarPiece&) const = default;
};

/// A device address.
struct AddressPiece {
  std::int64_t offset = 0;
  std::string tensor;  ///< "q", "k", "v", "o", "lse", or a buffer of the family
  std::int64_t byte_offset = 0;

  auto operator<=>(const AddressPiece&) const = default;
};

/// A TMA tensor map of 128 bytes: the arguments of cuTensorMapEncodeTiled. Dimension 0 is the
/// innermost. Names are those of CUtensorMap's enums in lower case: "bfloat16", "128b", "16b",
/// "l2_256b", "nan_request_zero_fma".
struct TensorMapPiece {
  std::int64_t offset = 0;
  std::string tensor;
  std::int64_t byte_offset = 0;
  std::string element_type;
  std::vector<std::int64_t> sizes;            ///< elements
  std::vector<std::int64_t> strides_bytes;    ///< strides of dimensions 1 and up
  std::vector<std::int64_t> box;              ///< elements
  std::vector<std::int64_t> element_strides;  ///< usually all 1
  std::string swizzle = "none";
  std::string interleave = "none";
  std::string l2_promotion = "none";
  std::string oob_fill = "none";

  auto operator<=>(const TensorMapPiece&) const = default;
};

inline constexpr std::int64_t kTensorMapArgumentBytes = 128;
using TensorMapBytes = std::array<std::uint8_t, kTensorMapArgumentBytes>;

/// One argument of a kernel: a scalar, a pointer, a tensor map, or a struct of these, with its
/// layout in C. Bytes that no piece covers are padding, and 0.
struct KernelArgument {
  std::string pointer;  ///< JSON pointer into the family's file: "/arguments/0"; for messages
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;
  std::vector<ScalarPiece> scalars;
  std::vector<AddressPiece> addresses;
  std::vector<TensorMapPiece> tensor_maps;

  auto operator<=>(const KernelArgument&) const = default;
};

/// Device memory that a kernel needs in addition to the problem's tensors.
struct KernelBuffer {
  std::string name;
  std::int64_t bytes = 0;
  std::uint32_t word = 0;  ///< the word that fills it, repeated
  /// "never": filled once, when it is allocated. "before_launch": filled before each launch,
  /// outside the timed part. "timed": filled before each launch, within the timed part. "unneeded":
  /// its contents do not matter to the kernel. This applies to a workspace; outputs are poisoned
  /// like O.
  std::string clear = "never";
  /// Empty for a workspace. Otherwise an output: "lse", "row_max", "row_sum", or "unchecked".
  std::string output;
  std::string element_type = {};         ///< an output's type: "float32", ...
  std::vector<std::int64_t> shape = {};  ///< an output's shape, in elements

  [[nodiscard]] std::int64_t elements() const;  ///< an output's number of elements

  auto operator<=>(const KernelBuffer&) const = default;
};

/// True if a workspace with this KernelBuffer::clear is filled again before each launch.
[[nodiscard]] inline bool is_refilled(std::string_view clear) {
  return clear == "before_launch" || clear == "timed";
}

/// The arguments of a kernel on one problem: every expression evaluated, tensors by name.
struct KernelArguments {
  /// True for the arguments of every attention_forward kernel, which follow from the problem alone.
  bool standard = true;
  std::vector<KernelArgument> list;
  std::vector<KernelBuffer> buffers;

  auto operator<=>(const KernelArguments&) const = default;
};

/// Turns the pieces of arguments into bytes.
struct ArgumentEncoder {
  std::function<std::uint64_t(const std::string& tensor)> address_of;
  std::function<TensorMapBytes(const TensorMapPiece&, std::uint64_t address)> encode;
};

/// The bytes of one argument.
[[nodiscard]] std::vector<std::uint8_t> pack_argument(const KernelArgument& argument,
                                                      const ArgumentEncoder& encoder);

/// The offset of each argument if they lie one after another, like a kernel's parameters. The last
/// element is the total size.
[[nodiscard]] std::vector<std::int64_t> argument_offsets(std::span<const KernelArgument> list);

/// The bytes of all arguments, at argument_offsets().
[[nodiscard]] std::vector<std::uint8_t> pack_arguments(const KernelArguments& arguments,
                                                       const ArgumentEncoder& encoder);

// The names of tensor maps' properties. A name's index is its value in the CUDA driver's enum
// (cuda.h, CUtensorMapDataType and its neighbours).

inline constexpr std::array<std::string_view, 13> kTensorMapElementTypes{
    "uint8",   "uint16",  "uint32",   "int32",       "uint64",   "int64",       "float16",
    "float32", "float64", "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"};
inline constexpr std::array<std::int64_t, 13> kTensorMapElementBytes{1, 2, 4, 4, 8, 8, 2,
                                                                     4, 8, 2, 4, 4, 4};
inline constexpr std::array<std::string_view, 7> kTensorMapSwizzles{
    "none", "32b", "64b", "128b", "128b_atom_32b", "128b_atom_32b_flip_8b", "128b_atom_64b"};
inline constexpr std::array<std::string_view, 3> kTensorMapInterleaves{"none", "16b", "32b"};
inline constexpr std::array<std::string_view, 4> kTensorMapL2Promotions{"none", "l2_64b", "l2_128b",
                                                                        "l2_256b"};
inline constexpr std::array<std::string_view, 2> kTensorMapOobFills{"none", "nan_request_zero_fma"};

/// Returns the index of the name, or the number of names if it is not among them.
[[nodiscard]] constexpr std::size_t index_of_name(std::span<const std::string_view> names,
                                                  std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

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

[[nodiscard]] inline std::int64_t block_count(const LaunchGeometry& geometry) {
  return geometry.grid[0] * geometry.grid[1] * geometry.grid[2];
}
[[nodiscard]] std::int64_t thread_count(const LaunchGeometry& geometry);  ///< of one block

/// True if two launches are equal on the same problem. Standard arguments follow from the problem
/// and are not compared.
[[nodiscard]] bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b);

/// SHA-256 of the sources of each kernel family, by its name.
using SourceHashes = std::map<std::string, std::string>;

[[nodiscard]] SourceLines lines_of_files(const SourceBundle& sources);

}  // namespace fatune

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_tree.hpp"
#include "choose/tuned_table.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// The machine code of a configuration for the problems with these values of kernel_key().
struct BuiltKernel {
  std::vector<double> key;
  std::size_t code = 0;  ///< index of Library::codes
};

struct LibraryConfig {
  Config config;
  std::vector<BuiltKernel> kernels;
};

/// Machine code, with the SHA-256 of its cubin.
struct LibraryCode {
  std::shared_ptr<const Artifact> artifact;
  std::string sha256;
  Arch arch;
};

/// The contents of an exported library. The families and the table must outlive it.
struct Library {
  const FamilySet& families;
  const TunedTable& table;
  std::vector<LibraryConfig> configs;  ///< those of the table
  std::vector<LibraryCode> codes;      ///< each once
};

/// The generated source: every family's functions, the configurations, and the table.
[[nodiscard]] std::string library_source(const Library& library);

/// The assembler source that includes the cubins from the files of cubin_path().
[[nodiscard]] std::string cubins_source(const Library& library);
[[nodiscard]] std::string cubin_path(const LibraryCode& code);  ///< "cubins/<SHA-256>.cubin"

/// A file of an exported library.
struct LibraryFile {
  std::string path;  ///< below the library's folder
  std::string bytes;
};

/// The files that all C++ libraries share, from src/runtime.
[[nodiscard]] std::vector<LibraryFile> constant_library_files(const FileTree& tree);

/// The files of a C++ library: those that all share, and generated ones.
[[nodiscard]] std::vector<LibraryFile> cpp_library_files(const Library& library,
                                                         const FileTree& tree);

/// The folder of the C++ library within a PyTorch package.
inline constexpr std::string_view kTorchLibraryFolder = "library";

/// The files of a PyTorch package: src/runtime/torch, and the C++ library.
[[nodiscard]] std::vector<LibraryFile> torch_package_files(const Library& library,
                                                           const FileTree& tree);

/// A number on which a configuration's machine code depends: an expression's value or a symbol's.
struct KeyPart {
  const Expression* expression = nullptr;  ///< null: the symbol
  std::size_t symbol = 0;
};

/// The numbers of a problem and a device that decide the machine code of the family's
/// configurations: the conditions and values of its source, entry, options and defines. Two
/// problems with the same values have equal compile requests. The family must outlive the result.
[[nodiscard]] std::vector<KeyPart> key_parts(const Family& family);

/// The architecture, then the values of the parts in order. Error(bad_file) if a part has none.
[[nodiscard]] std::vector<double> kernel_key(const Family& family, const Config& config,
                                             const Problem& problem, const DeviceLimits& limits);

/// The length of a kernel_key().
[[nodiscard]] std::size_t key_length(const Family& family);

/// A problem on a device for which a library has a configuration's machine code.
struct KernelCase {
  Problem problem;
  const DeviceLimits* device;  ///< points into TunedTable::gpus
};

/// What a library's kernels can do beyond the tuned problems: each needs machine code of its own.
struct LibraryFeatures {
  bool packed = false;                     ///< packed batches
  std::vector<std::int64_t> page_sizes{};  ///< K and V in pages of each of these sizes
};

/// The cases for which a configuration needs machine code, each of its own: by kernel_key().
using KernelCases = std::map<std::vector<double>, KernelCase>;

/// The cases for which each of a table's configurations needs machine code: the tuned problems that
/// have its time or whose default it is, and variants of each with other numbers of keys (that
/// tiles divide, and one less), with as many or half as many queries, with and without
/// log-sum-exps, with lengths of keys that differ, and with the features and their combinations, as
/// far as the family takes them; each tuned problem in groups of heads of all sizes that tuned
/// problems of its kernel_kind() have; then the cases of configurations that share its fit
/// (TunedTable::not_fitted).
[[nodiscard]] std::vector<KernelCases> kernel_cases(const TunedTable& table,
                                                    const FamilySet& families,
                                                    const std::vector<const Config*>& configs,
                                                    const LibraryFeatures& features = {});

/// Makes a C++ string literal. Quotes, backslashes and bytes that do not print are escaped.
[[nodiscard]] std::string cpp_string(std::string_view text);

/// Makes a C++ comment of one line, "// text", which no text can end or continue.
[[nodiscard]] std::string cpp_comment(std::string_view text);

/// Makes C++ functions from a family's expressions, for the source of an exported library:
///
///   const char* refusal_NAME(const double* p, const Facts& f);     why a problem is not valid
///   int key_NAME(const double* p, const Facts& f, double* key);    kernel_key(); its length
///   void launch_NAME(const double* p, const Facts& f, LaunchBuilder& b);
///   void time_NAME(const double* p, const Facts& f, TimeModel& m);   if the family has a model
///
/// `p` has the values of a configuration's parameters. runtime/kernel_table.hpp has the rest.
[[nodiscard]] std::string family_code(const Family& family);

/// Whether a launch of the family depends on how many blocks fit on an SM, which a library does not
/// know.
[[nodiscard]] bool needs_resident_blocks(const Family& family);

}  // namespace fatune

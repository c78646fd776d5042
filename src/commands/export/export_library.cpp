#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "app/option_groups.hpp"
#include "app/run/compiling.hpp"
#include "commands/export/export.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "emit/document/render.hpp"
#include "emit/export_report.hpp"
#include "emit/output_file.hpp"
#include "library/library.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "process/descriptor.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {
namespace {

/// The kernels of one configuration, and the compile request of each, in the same order.
struct Wanted {
  LibraryConfig config;
  std::vector<CompileRequest> requests;
};

Wanted wanted_kernels(const TunedTable& table, const Family& family, const Config& config) {
  Wanted wanted{{config, {}}, {}};
  std::map<std::vector<double>, KernelCase> by_key;
  for (const KernelCase& one : kernel_cases(table, config)) {
    if (!check_valid(family, config, &one.problem, one.device)) {
      by_key.emplace(kernel_key(family, config, one.problem, *one.device), one);
    }
  }
  for (const auto& [key, one] : by_key) {
    wanted.config.kernels.push_back({key, 0});
    wanted.requests.push_back(
        compile_request(family, config, one.problem, one.device->arch, *one.device));
  }
  return wanted;
}

/// Machine code by its hash, so that equal code is stored once.
class Codes {
 public:
  std::size_t add(const std::shared_ptr<const CompileResult>& result, Arch arch) {
    const std::shared_ptr<const Artifact> artifact(result, &std::get<Artifact>(*result));
    const std::string hash = sha256_hex({artifact->cubin.data(), artifact->cubin.size()});
    const auto [known, is_new] = indices_.try_emplace(hash, codes_.size());
    if (is_new) {
      codes_.push_back({artifact, hash, arch});
    }
    return known->second;
  }
  [[nodiscard]] std::vector<LibraryCode> take() && { return std::move(codes_); }

 private:
  std::map<std::string, std::size_t> indices_;
  std::vector<LibraryCode> codes_;
};

void check_exportable(const Family& family) {
  if (needs_resident_blocks(family)) {
    throw Error(ExitCode::bad_file,
                fmt::format("launches of {} depend on {}, which exported libraries do not know",
                            family.name, kResidentBlocks),
                family.file, "choose other families with --family");
  }
}

void check_compiled(const CompileRequest& request,
                    const std::shared_ptr<const CompileResult>& result) {
  if (result == nullptr) {
    throw Error(ExitCode::interrupted, "interrupted: nothing was exported");
  }
  if (const std::string* log = failure_log(*result)) {
    throw Error(ExitCode::failed_outcomes, "a kernel of the library does not compile",
                request.label, *log);
  }
}

/// Builds a library of the table's configurations, with the machine code of kernel_cases(),
/// compiled in parallel. Throws Error(bad_file) for a family that libraries cannot have,
/// Error(failed_outcomes) if a kernel cannot be compiled, and Error(interrupted) after an
/// interrupt. The families and the table must outlive the library.
Library build_library(const TunedTable& table, const FamilySet& families,
                      const CompileSettings& settings, const OutputOptions& output) {
  Library library{families, table, {}, {}};
  std::vector<CompileRequest> requests;
  const RuntimeTable runtime_table(table);
  for (const Config* config : runtime_table.configs()) {
    check_exportable(families.of(*config));
    Wanted wanted = wanted_kernels(table, families.of(*config), *config);
    library.configs.push_back(std::move(wanted.config));
    std::ranges::move(wanted.requests, std::back_inserter(requests));
  }
  print_note(output, fmt::format("compiling {} kernels of {} configurations", requests.size(),
                                 library.configs.size()));
  const auto results = compile_all(requests, settings, open_cache(settings).get());
  Codes codes;
  std::size_t next = 0;
  for (LibraryConfig& config : library.configs) {
    for (BuiltKernel& kernel : config.kernels) {
      check_compiled(requests[next], results[next]);
      kernel.code = codes.add(results[next], requests[next].arch);
      ++next;
    }
  }
  library.codes = std::move(codes).take();
  return library;
}

std::vector<LibraryFile> library_files(ExportFormat to, const Library& library) {
  return to == ExportFormat::torch ? torch_package_files(library, FileTree())
                                   : cpp_library_files(library, FileTree());
}

/// Where the C++ library is.
std::filesystem::path library_path(const ExportOptions& options) {
  const std::filesystem::path& folder = options.out_file.value();
  return options.to == ExportFormat::torch ? folder / kTorchLibraryFolder : folder;
}

std::filesystem::path table_path(const ExportOptions& options) {
  return library_path(options) / "table.json";
}

/// Whether the folder has one of the files that are the same in every library: an export to it has
/// begun, and may not have ended.
bool has_begun(const std::filesystem::path& library) {
  return std::ranges::any_of(constant_library_files(FileTree()), [&](const LibraryFile& file) {
    std::ifstream there(library / file.path, std::ios::binary);
    return there && std::string(std::istreambuf_iterator<char>(there), {}) == file.bytes;
  });
}

/// Throws Error(usage) if the folder has files but no library, so that unrelated files, such as
/// those of a folder `kernels`, are not overwritten.
void check_is_libraries(const ExportOptions& options) {
  const std::filesystem::path& folder = *options.out_file;
  std::error_code ignored;
  const bool has_files =
      std::filesystem::is_directory(folder, ignored) && !std::filesystem::is_empty(folder, ignored);
  if (has_files && !std::filesystem::exists(table_path(options), ignored) &&
      !has_begun(library_path(options))) {
    throw Error(ExitCode::usage, "the folder is not empty, and no library was exported to it",
                "--out " + folder.string(), "name another folder");
  }
}

}  // namespace

void check_library_folder(const ExportOptions& options) {
  if (!options.out_file) {
    throw Error(ExitCode::usage, "a library needs a folder",
                "--to " + std::string(export_format_name(options.to)), "name one with --out DIR");
  }
  check_is_libraries(options);
  check_output_file(*options.out_file / "README.md");
}

void write_library(const ExportOptions& options, const FamilySet& families,
                   const ExportReport& report) {
  const std::filesystem::path& folder = options.out_file.value();
  const Library library = build_library(report.table, families, options.compile, options.output);
  std::set<std::filesystem::path> folders;
  for (const LibraryFile& file : library_files(options.to, library)) {
    write_output_file(folder / file.path, file.bytes);
    folders.insert((folder / file.path).parent_path());
  }
  std::ranges::for_each(folders, remove_stale_temporaries);  // a killed export leaves them
  const std::filesystem::path table = table_path(options);
  write_output_file(table, export_json(report));
  write_output_file(std::filesystem::path(table).replace_extension(".md"),
                    render(export_document(report), OutputFormat::markdown));
}

}  // namespace fatune

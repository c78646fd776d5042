#include "commands/export/export_library.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "commands/export/build_library.hpp"
#include "core/error.hpp"
#include "emit/document/render.hpp"
#include "emit/export_report.hpp"
#include "emit/output_file.hpp"
#include "library/library_files.hpp"
#include "process/temporary_file.hpp"

namespace fatune {
namespace {

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

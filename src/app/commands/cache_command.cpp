#include "app/commands/cache_command.hpp"

#include <memory>

#include "app/artifacts/cubin_bundle.hpp"
#include "app/console/console.hpp"
#include "app/run/session.hpp"
#include "core/error.hpp"
#include "emit/list_reports.hpp"

namespace fatune {
namespace {

BundleRow bundle_row(const std::filesystem::path& file, const BundleCounts& counts) {
  return {file.string(), counts.artifacts, counts.added, counts.known, counts.damaged};
}

std::unique_ptr<CubinCache> open_needed_cache(const CompileSettings& settings) {
  std::unique_ptr<CubinCache> cache = open_cache(settings);
  if (cache == nullptr) {
    throw Error(ExitCode::io, "there is no cache of compiled kernels", {},
                "name its folder with --cache-dir");
  }
  return cache;
}

}  // namespace

ExitCode cache_export(const CacheExportOptions& options) {
  const std::unique_ptr<CubinCache> cache = open_needed_cache(options.compile);
  print_document(bundle_document({bundle_row(options.file, export_bundle(*cache, options.file))}),
                 options.output);
  return ExitCode::ok;
}

ExitCode cache_import(const CacheImportOptions& options) {
  const std::unique_ptr<CubinCache> cache = open_needed_cache(options.compile);
  std::vector<BundleRow> rows;
  std::int64_t damaged = 0;
  for (const auto& file : options.files) {
    rows.push_back(bundle_row(file, import_bundle(file, *cache)));
    damaged += rows.back().damaged;
  }
  print_document(bundle_document(rows), options.output);
  return damaged > 0 ? ExitCode::bad_file : ExitCode::ok;
}

}  // namespace fatune

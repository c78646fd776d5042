#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/file_tree.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "engine/compiling.hpp"
#include "gpu/cubin_cache.hpp"
#include "print/files.hpp"
#include "store/database.hpp"

namespace fatune {

/// A bundle of compiled kernels, and counts of the artifacts written to it or read from it.
struct BundleRow {
  std::string file;
  std::int64_t artifacts = 0;  ///< how many the bundle has
  std::int64_t added = 0;      ///< how many were new to the cache
  std::int64_t known = 0;      ///< the cache had them already
  std::int64_t damaged = 0;    ///< skipped: its checksum or its key is wrong
};

Fields<BundleRow> bundle_fields() {
  using B = BundleRow;
  return {
      {"file", "file", &B::file},          {"artifacts", "artifacts", &B::artifacts},
      {"added", "added", &B::added},       {"known", "known", &B::known},
      {"damaged", "damaged", &B::damaged},
  };
}

namespace {

constexpr std::int64_t kBundleId = 0x46415443;  // "FATC"; PRAGMA application_id
constexpr std::size_t kMostBundleBytes = std::size_t{1} << 34;
constexpr std::chrono::milliseconds kNoWait{0};

/// Whether the text is a SHA-256 in hexadecimal. Other texts could name files anywhere.
bool is_key(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void write_bundle(CubinCache& cache, Database& bundle, BundleRow& counts) {
  bundle.execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = 1; "
      "CREATE TABLE artifacts (key TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID",
      kBundleId));
  Transaction transaction(bundle);
  Statement insert = bundle.prepare("INSERT INTO artifacts VALUES (?, ?)");
  for (const std::string& key : cache.keys("")) {
    const auto artifact = cache.find(key);
    if (artifact) {
      insert.bind(key, encode_entry(*artifact)).run();
    }
    ++(artifact ? counts.artifacts : counts.damaged);
  }
  transaction.commit();
}

Database open_bundle(const std::filesystem::path& file) {
  Database bundle(file, Database::Mode::existing, kNoWait);
  if (bundle.value("PRAGMA application_id") != kBundleId ||
      bundle.value("PRAGMA user_version") != 1) {
    throw Error(ExitCode::bad_file, "this is not a bundle of compiled kernels", file.string(),
                "'fatune cache export' makes one");
  }
  return bundle;
}

[[noreturn]] void fail_cache(const CubinCache& cache, const std::string& reason,
                             const std::string& remedy) {
  throw Error(ExitCode::io, reason, cache.settings().folder.string(), remedy);
}

void add(const Artifact& artifact, CubinCache& cache, BundleRow& counts) {
  const std::string failure = cache.try_store(artifact);
  if (!failure.empty()) {
    fail_cache(cache, fmt::format("{}; {} kernels were added before", failure, counts.added),
               "free some space, or name another folder with --cache-dir; importing the file again "
               "adds what is missing");
  }
  ++counts.added;
}

/// Writes the cache's artifacts to one SQLite file, in the order of their keys, so that the same
/// cache gives the same bytes. Damaged artifacts are skipped. Throws Error(io) if the file cannot
/// be written, or if the cache may have artifacts of another user.
BundleRow export_bundle(CubinCache& cache, const std::filesystem::path& file) {
  if (const std::string reason = cache.why_unsafe(); !reason.empty()) {
    fail_cache(cache, reason, "export a cache of your own");
  }
  check_output_file(file);
  const ScratchFolder scratch;  // local, because SQLite cannot write to every file system
  const auto local = scratch.path() / "bundle";
  BundleRow counts{file.string()};
  {
    Database bundle(local, Database::Mode::create, kNoWait);
    write_bundle(cache, bundle, counts);
  }
  write_output_file(file, read_disk_file(local, kMostBundleBytes));
  return counts;
}

/// Adds a bundle's artifacts to the cache after checking the checksum and the key of each. Throws
/// Error(bad_file) if the file is not a bundle, and Error(io) if the cache cannot be written, which
/// says how many artifacts were added before.
BundleRow import_bundle(const std::filesystem::path& file, CubinCache& cache) {
  if (const std::string reason = cache.why_unwritable(); !reason.empty()) {
    fail_cache(cache, reason, "name another folder with --cache-dir");
  }
  Database bundle = open_bundle(file);
  const std::vector<std::string> known = cache.keys("");
  BundleRow counts{file.string()};
  Statement row = bundle.prepare("SELECT key, entry FROM artifacts");
  while (row.step()) {
    ++counts.artifacts;
    const std::string key = row.text(0);
    const auto artifact = is_key(key) ? decode_entry(row.text(1), key) : std::nullopt;
    if (!artifact) {
      ++counts.damaged;
    } else if (std::ranges::binary_search(known, key)) {
      ++counts.known;
    } else {
      add(*artifact, cache, counts);
    }
  }
  return counts;
}

struct CacheOptions {
  std::filesystem::path target;                ///< the file to export to
  std::vector<std::filesystem::path> sources;  ///< the files to import
  CompileSettings compile;
  OutputOptions output;
};

/// JSON: configs/schema/cache.schema.json.
void print_bundles(const std::vector<BundleRow>& bundles, const OutputOptions& output) {
  print_document(rows_document("cache", "bundles", bundle_fields(), bundles), output);
}

std::unique_ptr<CubinCache> open_needed_cache(const CompileSettings& settings) {
  std::unique_ptr<CubinCache> cache = open_cache(settings);
  if (cache == nullptr) {
    throw Error(ExitCode::io, "there is no cache of compiled kernels", {},
                "name its folder with --cache-dir");
  }
  return cache;
}

ExitCode cache_export(const CacheOptions& options) {
  const std::unique_ptr<CubinCache> cache = open_needed_cache(options.compile);
  print_bundles({export_bundle(*cache, options.target)}, options.output);
  return ExitCode::ok;
}

/// Adds the compiled kernels of such files to the cache. Returns ExitCode::bad_file if some were
/// damaged.
ExitCode cache_import(const CacheOptions& options) {
  const std::unique_ptr<CubinCache> cache = open_needed_cache(options.compile);
  const auto rows =
      mapped(options.sources, [&](const auto& file) { return import_bundle(file, *cache); });
  print_bundles(rows, options.output);
  return sum_of<std::int64_t>(rows, &BundleRow::damaged) > 0 ? ExitCode::bad_file : ExitCode::ok;
}

void add_options_of_cache(CLI::App& app, CacheOptions& options) {
  add_path_option(app, "--cache-dir", "DIR",
                  "cache of compiled kernels (default: $XDG_CACHE_HOME/fatune)",
                  options.compile.cache_dir);
  add_output_options(app, options.output);
}

void add_export_command_of_cache(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "export", "Write the compiled kernels to one file", cache_export);
  add_path_option(sub, "FILE", "FILE", "file to write", options.target)->required();
  add_options_of_cache(sub, options);
  sub.footer("Examples:\n  fatune cache export cubins-3.db");
}

void add_import_command_of_cache(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "import", "Add the compiled kernels of exported files", cache_import);
  add_paths(sub, "FILE", "FILE", "files written by 'fatune cache export'", options.sources)
      ->required();
  add_options_of_cache(sub, options);
  sub.footer("Examples:\n  fatune cache import cubins-1.db cubins-2.db");
}

}  // namespace

void add_cache_command(const Subcommands& all) {
  CLI::App* const sub =
      all.parent.add_subcommand("cache", "Copy compiled kernels to other machines");
  sub->require_subcommand(1);
  const Subcommands inner = within(all, *sub);
  add_export_command_of_cache(inner);
  add_import_command_of_cache(inner);
  sub->footer(R"(Examples:
  fatune cache export cubins-3.db
  fatune cache import cubins-1.db cubins-2.db)");
}

}  // namespace fatune

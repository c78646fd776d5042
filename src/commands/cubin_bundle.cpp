#include "commands/cubin_bundle.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/scratch_folder.hpp"
#include "compile/cache_entry.hpp"
#include "core/error.hpp"
#include "data/file_tree.hpp"
#include "emit/output_file.hpp"
#include "store/database.hpp"

namespace fatune {
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

BundleCounts write_bundle(CubinCache& cache, Database& bundle) {
  bundle.execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = 1; "
      "CREATE TABLE artifacts (key TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID",
      kBundleId));
  BundleCounts counts;
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
  return counts;
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

void add(const Artifact& artifact, CubinCache& cache, BundleCounts& counts) {
  const std::string failure = cache.try_store(artifact);
  if (!failure.empty()) {
    fail_cache(cache, fmt::format("{}; {} kernels were added before", failure, counts.added),
               "free some space, or name another folder with --cache-dir; importing the file again "
               "adds what is missing");
  }
  ++counts.added;
}

}  // namespace

BundleCounts export_bundle(CubinCache& cache, const std::filesystem::path& file) {
  if (const std::string reason = cache.folder().why_unsafe(); !reason.empty()) {
    fail_cache(cache, reason, "export a cache of your own");
  }
  check_output_file(file);
  const ScratchFolder scratch;  // local, because SQLite cannot write to every file system
  const auto local = scratch.path() / "bundle";
  BundleCounts counts;
  {
    Database bundle(local, Database::Mode::create, kNoWait);
    counts = write_bundle(cache, bundle);
  }
  write_output_file(file, read_disk_file(local, kMostBundleBytes));
  return counts;
}

BundleCounts import_bundle(const std::filesystem::path& file, CubinCache& cache) {
  if (const std::string reason = cache.why_unwritable(); !reason.empty()) {
    fail_cache(cache, reason, "name another folder with --cache-dir");
  }
  Database bundle = open_bundle(file);
  const std::vector<std::string> known = cache.keys("");
  BundleCounts counts;
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

}  // namespace fatune

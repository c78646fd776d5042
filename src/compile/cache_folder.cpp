#include "compile/cache_folder.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporarySuffix = ".tmp";
constexpr auto kTemporaryLife = std::chrono::hours(1);  // older ones were left by a killed process

struct EntryFile {
  fs::path path;
  std::int64_t bytes = 0;
  fs::file_time_type last_used;
};

std::string_view suffix_of(CacheKind kind) {
  return kind == CacheKind::artifact ? ".artifact" : ".verdict";
}

/// Lists the cache's files with that suffix. A file that disappears during the listing is left out.
std::vector<EntryFile> list_files(const fs::path& folder, std::string_view suffix) {
  std::vector<EntryFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const auto bytes = it->file_size(gone);
    const auto last_used = gone ? fs::file_time_type{} : it->last_write_time(gone);
    if (!gone && it->path().extension() == suffix) {
      files.push_back({it->path(), static_cast<std::int64_t>(bytes), last_used});
    }
  }
  return files;
}

/// Lists the entries of all kinds.
std::vector<EntryFile> list_entries(const fs::path& folder) {
  std::vector<EntryFile> files = list_files(folder, suffix_of(CacheKind::artifact));
  const std::vector<EntryFile> verdicts = list_files(folder, suffix_of(CacheKind::verdict));
  files.insert(files.end(), verdicts.begin(), verdicts.end());
  return files;
}

std::int64_t total_bytes(const std::vector<EntryFile>& files) {
  std::int64_t total = 0;
  for (const EntryFile& file : files) {
    total += file.bytes;
  }
  return total;
}

bool remove_quietly(const fs::path& path) {
  std::error_code ignored;
  return fs::remove(path, ignored);
}

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) {
    return std::nullopt;
  }
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  return file ? std::optional(std::move(text)) : std::nullopt;
}

/// A path that is unique among the threads and processes that share the folder.
fs::path temporary_path(const fs::path& folder) {
  static std::atomic<unsigned> count{0};
  return folder / fmt::format("{}-{}{}", getpid(), count++, kTemporarySuffix);
}

/// Returns the reason for a failure; empty if the file was written.
std::string write_file(const fs::path& path, const std::string& bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) {
    return {};
  }
  const std::error_code reason(errno == 0 ? EIO : errno, std::generic_category());
  return fmt::format("cannot write {}: {}", path.string(), reason.message());
}

/// Writes a file so that it appears whole or not at all. Returns the reason for a failure, or
/// nothing.
std::string publish(const fs::path& target, const std::string& bytes) {
  const fs::path temporary = temporary_path(target.parent_path());
  std::string failure = write_file(temporary, bytes);
  if (failure.empty()) {
    std::error_code error;
    fs::rename(temporary, target, error);
    failure = error ? fmt::format("cannot rename {}: {}", temporary.string(), error.message()) : "";
  }
  if (!failure.empty()) {
    remove_quietly(temporary);
  }
  return failure;
}

/// Creates the folder if necessary. Returns the reason for a failure, or nothing.
std::string create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  return error ? fmt::format("cannot create folder {}: {}", folder.string(), error.message()) : "";
}

void remove_stale_temporaries(const fs::path& folder) {
  const auto oldest = fs::file_time_type::clock::now() - kTemporaryLife;
  for (const EntryFile& file : list_files(folder, kTemporarySuffix)) {
    if (file.last_used < oldest) {
      remove_quietly(file.path);
    }
  }
}

fs::path cache_home() {
  const auto folder = xdg_folder("XDG_CACHE_HOME", ".cache");
  return folder ? *folder : fs::path(fmt::format("/tmp/fatune-cache-{}", getuid()));
}

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kMostMebibytes = std::int64_t{1} << 30;

std::int64_t parse_mebibytes(std::string_view text) {
  const std::int64_t value = whole_number<std::int64_t>(text).value_or(0);
  if (value < 1 || value > kMostMebibytes) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a size for the cubin cache", text),
                "FATUNE_CACHE_MIB", fmt::format("a whole number of MiB, 1 to {}", kMostMebibytes));
  }
  return value;
}

}  // namespace

CacheSettings cache_settings_from_environment() {
  CacheSettings settings;
  settings.folder = cache_home() / "fatune";
  if (const auto mebibytes = environment_variable("FATUNE_CACHE_MIB")) {
    settings.cap_bytes = parse_mebibytes(*mebibytes) * kMebibyte;
  }
  return settings;
}

CacheFolder::CacheFolder(CacheSettings settings) : settings_(std::move(settings)) {}

fs::path CacheFolder::entry_path(CacheKind kind, const std::string& key) const {
  return settings_.folder / (key + std::string(suffix_of(kind)));
}

std::optional<std::string> CacheFolder::read(CacheKind kind, const std::string& key) {
  const fs::path path = entry_path(kind, key);
  auto bytes = read_file(path);
  if (bytes) {
    std::error_code ignored;  // a read-only cache still serves
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  }
  return bytes;
}

bool CacheFolder::contains(CacheKind kind, const std::string& key) const {
  std::error_code ignored;
  return fs::exists(entry_path(kind, key), ignored);
}

bool CacheFolder::write(CacheKind kind, const std::string& key, const std::string& bytes) {
  if (!writable_) {
    return false;
  }
  std::string failure = create_folder(settings_.folder);
  if (failure.empty()) {
    failure = publish(entry_path(kind, key), bytes);
  }
  if (!failure.empty()) {
    give_up(failure);
    return false;
  }
  keep_under_cap(static_cast<std::int64_t>(bytes.size()));
  return true;
}

void CacheFolder::give_up(const std::string& reason) {
  if (writable_.exchange(false)) {
    spdlog::warn("the cubin cache cannot be used: {}; compiling without it", reason);
  }
}

/// Lists the folder at the first store, and when the bytes that this process has added since take
/// it over its cap. The folder is then reduced to nine tenths of the cap, so that a full cache is
/// not listed at every store.
void CacheFolder::keep_under_cap(std::int64_t added_bytes) {
  const std::lock_guard lock(eviction_);
  if (estimated_bytes_ >= 0) {
    estimated_bytes_ += added_bytes;
  }
  if (estimated_bytes_ >= 0 && estimated_bytes_ <= settings_.cap_bytes) {
    return;
  }
  remove_stale_temporaries(settings_.folder);
  std::vector<EntryFile> files = list_entries(settings_.folder);
  std::ranges::sort(files, {}, &EntryFile::last_used);
  estimated_bytes_ = total_bytes(files);
  const std::int64_t target_bytes =
      estimated_bytes_ > settings_.cap_bytes ? settings_.cap_bytes / 10 * 9 : settings_.cap_bytes;
  for (const EntryFile& file : files) {
    if (estimated_bytes_ <= target_bytes) {
      break;
    }
    evicted_ += remove_quietly(file.path) ? 1 : 0;
    estimated_bytes_ -= file.bytes;
  }
}

CacheContents CacheFolder::contents(CacheKind kind) const {
  const auto files = list_files(settings_.folder, suffix_of(kind));
  return {static_cast<std::int64_t>(files.size()), total_bytes(files)};
}

std::vector<std::string> CacheFolder::keys(CacheKind kind, std::string_view prefix) const {
  std::vector<std::string> keys;
  for (const EntryFile& file : list_files(settings_.folder, suffix_of(kind))) {
    const std::string key = file.path.stem().string();
    if (key.starts_with(prefix)) {
      keys.push_back(key);
    }
  }
  std::ranges::sort(keys);
  return keys;
}

std::string CacheFolder::why_unwritable() const {
  std::string failure = create_folder(settings_.folder);
  if (!failure.empty()) {
    return failure;
  }
  const fs::path probe = temporary_path(settings_.folder);
  failure = write_file(probe, "probe");
  remove_quietly(probe);
  return failure;
}

std::int64_t CacheFolder::clear() {
  std::int64_t removed = 0;
  for (const EntryFile& file : list_entries(settings_.folder)) {
    removed += remove_quietly(file.path) ? 1 : 0;
  }
  const std::lock_guard lock(eviction_);
  estimated_bytes_ = -1;
  return removed;
}

}  // namespace fatune

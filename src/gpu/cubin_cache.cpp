#include "gpu/cubin_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include "base/descriptor.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "base/text_parts.hpp"

namespace fatune {

namespace fs = std::filesystem;

FATUNE_DESCRIBED(Artifact, (lowered_name), (cubin, kElsewhere), (ptx, kElsewhere), (facts), (log),
                 (toolchain), (compile_ms), (from_cache, kElsewhere), (key))

// nlohmann/json finds these functions by argument-dependent lookup.
template <typename Struct>
concept Stored = std::same_as<Struct, AssemblerNote> || std::same_as<Struct, ResourceFacts> ||
    std::same_as<Struct, Artifact>;

template <Stored Struct>
void to_json(nlohmann::json& json, const Struct& value) {
  visit_members(value, [&]<typename Info>(const Info& info, const auto& member) {
    if constexpr (!std::same_as<Info, ElsewhereMember>) {
      json[std::string(info.name)] = member;
    }
  });
}

template <Stored Struct>
void from_json(const nlohmann::json& json, Struct& value) {
  visit_members(value, [&]<typename Info>(const Info& info, auto& member) {
    if constexpr (!std::same_as<Info, ElsewhereMember>) {
      json.at(std::string(info.name)).get_to(member);
    }
  });
}

namespace {

constexpr std::string_view kMagic = "fatune artifact 1\n";

/// Takes `count` bytes off the front; returns nothing if there are fewer.
std::optional<std::string_view> take(std::string_view& bytes, std::size_t count) {
  if (bytes.size() < count) {
    return std::nullopt;
  }
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

std::optional<Artifact> decode_payload(std::string_view payload, const std::string& key) {
  const auto line = take(payload, payload.find('\n'));
  if (!line) {
    return std::nullopt;
  }
  payload.remove_prefix(1);
  const auto fields = nlohmann::json::parse(*line);
  auto artifact = fields.get<Artifact>();
  artifact.from_cache = true;
  const auto cubin = take(payload, fields.at("cubin_bytes").get<std::size_t>());
  const auto ptx = take(payload, fields.at("ptx_bytes").get<std::size_t>());
  if (!cubin || !ptx || !payload.empty() || artifact.key != key) {
    return std::nullopt;
  }
  artifact.cubin.assign(cubin->begin(), cubin->end());
  artifact.ptx = *ptx;
  return artifact;
}

constexpr std::int64_t kMostEntryBytes = std::int64_t{1} << 28;

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
    if (!gone && it->path().extension() == suffix &&
        it->symlink_status(gone).type() == fs::file_type::regular) {
      files.push_back({it->path(), static_cast<std::int64_t>(bytes), last_used});
    }
  }
  return files;
}

std::int64_t total_bytes(const std::vector<EntryFile>& files) {
  return sum_of<std::int64_t>(files, &EntryFile::bytes);
}

/// Reads `bytes` bytes. Nothing if there are fewer.
std::optional<std::string> read_all(const Descriptor& file, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = ::read(file.get(), text.data() + done, bytes - done);
    if (count <= 0) {
      return std::nullopt;
    }
    done += static_cast<std::size_t>(count);
  }
  return text;
}

/// Reads an entry, which counts as used now. Nothing if it is not a plain file of a plausible size:
/// it is not waited for, and no memory is taken for it.
std::optional<std::string> read_entry(const fs::path& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor file(::open(path.c_str(), kFlags));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > kMostEntryBytes) {
    return std::nullopt;
  }
  static_cast<void>(::futimens(file.get(), nullptr));  // a read-only cache still serves
  return read_all(file, static_cast<std::size_t>(status.st_size));
}

std::string system_failure(std::string_view what, const fs::path& path) {
  return fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno));
}

/// Writes a file so that it appears whole or not at all. Returns the reason for a failure, or
/// nothing.
std::string publish(const fs::path& target, std::string_view bytes) {
  TemporaryFile file(target, 0644);
  if (!file.is_open() || !file.write(bytes)) {
    return system_failure("write", target);
  }
  return file.put_in_place() ? "" : system_failure("replace", target);
}

/// Creates the folder if necessary, for this user alone. Returns the reason for a failure, or
/// nothing.
std::string create_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) {
    return {};
  }
  if (folder.has_parent_path()) {
    fs::create_directories(folder.parent_path(), ignored);
  }
  const bool made = ::mkdir(folder.c_str(), 0700) == 0;
  const std::string failure = made ? "" : system_failure("create folder", folder);
  return fs::is_directory(folder, ignored) ? "" : failure;  // another process may have made it
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

std::string with_checksum(std::string_view magic, std::string_view payload) {
  return fmt::format("{}{}\n{}", magic, sha256_hex(payload), payload);
}

std::optional<std::string_view> checked_payload(std::string_view magic, std::string_view bytes) {
  constexpr std::size_t kDigits = 64;
  if (!bytes.starts_with(magic)) {
    return std::nullopt;
  }
  bytes.remove_prefix(magic.size());
  const auto digits = take(bytes, kDigits);
  const auto newline = take(bytes, 1);
  if (!digits || newline != "\n" || sha256_hex(bytes) != *digits) {
    return std::nullopt;
  }
  return bytes;
}

std::string encode_entry(const Artifact& artifact) {
  // A source path in the log may be in any encoding, but JSON is UTF-8.
  nlohmann::json fields = artifact;
  fields["cubin_bytes"] = artifact.cubin.size();
  fields["ptx_bytes"] = artifact.ptx.size();
  std::string payload =
      fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  payload.append(artifact.cubin.data(), artifact.cubin.size());
  payload += artifact.ptx;
  return with_checksum(kMagic, payload);
}

std::optional<Artifact> decode_entry(std::string_view bytes, const std::string& key) {
  const auto payload = checked_payload(kMagic, bytes);
  if (!payload) {
    return std::nullopt;
  }
  try {
    return decode_payload(*payload, key);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // intact, but written with other fields
  }
}

CacheSettings cache_settings_from_environment() {
  CacheSettings settings;
  if (const auto folder = xdg_folder("XDG_CACHE_HOME", ".cache")) {
    settings.folder = *folder / "fatune";
  }
  if (const auto mebibytes = environment_variable("FATUNE_CACHE_MIB")) {
    settings.cap_bytes = parse_mebibytes(*mebibytes) * kMebibyte;
  }
  return settings;
}

fs::path CacheFolder::entry_path(CacheKind kind, const std::string& key) const {
  return settings_.folder / (key + std::string(suffix_of(kind)));
}

std::string CacheFolder::why_unsafe() const {
  struct stat status {};
  const std::string folder = settings_.folder.string();
  const bool exists = ::stat(folder.c_str(), &status) == 0;  // write() makes it
  const std::string why = exists ? why_foreign(status) : "";
  return why.empty() ? ""
                     : fmt::format(
                           "{} {}, and what is in it would run on the GPU: name a folder of "
                           "your own with --cache-dir, or, if it is yours, 'chmod go-w {}'",
                           folder, why, shell_word(folder));
}

std::string CacheFolder::make_folder() const {
  const std::string failure = create_folder(settings_.folder);
  return failure.empty() ? why_unsafe() : failure;
}

bool CacheFolder::may_use() {
  const std::string why = why_unsafe();
  if (!why.empty()) {
    give_up(why);
  }
  return why.empty();
}

std::optional<std::string> CacheFolder::read(CacheKind kind, const std::string& key) {
  return may_use() ? read_entry(entry_path(kind, key)) : std::nullopt;
}

void CacheFolder::write(CacheKind kind, const std::string& key, const std::string& bytes) {
  const std::string failure = writable_ ? try_write(kind, key, bytes) : "";
  if (!failure.empty()) {
    give_up(failure);
  }
}

std::string CacheFolder::try_write(CacheKind kind, const std::string& key,
                                   const std::string& bytes) {
  std::string failure = make_folder();
  if (failure.empty()) {
    failure = publish(entry_path(kind, key), bytes);
  }
  if (failure.empty()) {
    keep_under_cap(static_cast<std::int64_t>(bytes.size()));
  }
  return failure;
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
  std::vector<EntryFile> files = list_files(settings_.folder, suffix_of(CacheKind::artifact));
  append(files, list_files(settings_.folder, suffix_of(CacheKind::verdict)));
  std::ranges::sort(files, {}, [](const EntryFile& file) {  // what is never read goes first
    return std::pair(file.bytes <= kMostEntryBytes, file.last_used);
  });
  estimated_bytes_ = total_bytes(files);
  const std::int64_t target_bytes =
      estimated_bytes_ > settings_.cap_bytes ? settings_.cap_bytes / 10 * 9 : settings_.cap_bytes;
  for (const EntryFile& file : files) {
    if (estimated_bytes_ <= target_bytes) {
      break;
    }
    std::error_code ignored;
    fs::remove(file.path, ignored);
    estimated_bytes_ -= file.bytes;
  }
}

CacheContents CacheFolder::contents(CacheKind kind) const {
  const auto files = list_files(settings_.folder, suffix_of(kind));
  return {static_cast<std::int64_t>(files.size()), total_bytes(files)};
}

std::vector<std::string> CacheFolder::keys(std::string_view prefix, CacheKind kind) const {
  std::vector<std::string> keys =
      mapped(list_files(settings_.folder, suffix_of(kind)),
             [](const EntryFile& file) { return file.path.stem().string(); });
  std::erase_if(keys, [&](const std::string& key) { return !key.starts_with(prefix); });
  std::ranges::sort(keys);
  return keys;
}

std::string CacheFolder::why_unwritable() const {
  std::string failure = make_folder();
  if (failure.empty()) {
    TemporaryFile probe(settings_.folder / "probe", 0600);
    const bool written = probe.is_open() && probe.write("probe");
    failure = written ? "" : system_failure("write to", settings_.folder);
  }
  return failure;
}

std::optional<Artifact> CubinCache::find(const std::string& key, bool need_ptx) {
  const auto bytes = read(CacheKind::artifact, key);
  std::optional<Artifact> artifact = bytes ? decode_entry(*bytes, key) : std::nullopt;
  if (bytes && !artifact) {
    spdlog::debug("cache entry {} is damaged: compiling again", key);
  }
  return need_ptx && artifact && artifact->ptx.empty() ? std::nullopt : artifact;
}

}  // namespace fatune

#include "base/file_tree.hpp"

#include <cstdint>
#include <fstream>
#include <set>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "base/cuda_installation.hpp"
#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"

namespace fatune {

/// A data file in the program's read-only memory: a row of the table that cmake/fatune_embed.cmake
/// writes, of three 64-bit words.
struct EmbeddedFile {
  const char* path;  ///< relative to the repository: "kernels/flash_sm80/family.json"
  const char* begin;
  std::uint64_t size_bytes;

  [[nodiscard]] std::string_view bytes() const { return {begin, size_bytes}; }
};

extern "C" {
// Defined in the generated assembler file.
extern const EmbeddedFile fatune_embedded_table[];  // NOLINT(readability-identifier-naming)
extern const std::uint64_t fatune_embedded_count;   // NOLINT(readability-identifier-naming)
}

namespace {

/// All embedded files. Costs no start-up time: the table is part of the program's image.
std::span<const EmbeddedFile> embedded_files() {
  return {fatune_embedded_table, fatune_embedded_count};
}

namespace fs = std::filesystem;

// A kernel folder has a handful of files; more means that a wrong folder was named.
constexpr std::size_t kMaxFilesPerFolder = 1000;
constexpr int kMaxFolderDepth = 8;

/// Returns null if there is no such file.
const EmbeddedFile* find_embedded(std::string_view path) {
  const auto files = embedded_files();
  return find_in(files, path, &EmbeddedFile::path);
}

bool is_hidden(std::string_view path, const std::vector<std::string>& replaced) {
  return std::ranges::any_of(replaced,
                             [&](const std::string& prefix) { return path.starts_with(prefix); });
}

[[noreturn]] void fail_folder(const fs::path& dir, const std::string& what) {
  throw Error(
      ExitCode::bad_file, what, dir.string(),
      "--kernel-dir takes the folder of a kernel family (it holds family.json), or a folder "
      "that holds several of them");
}

std::vector<fs::path> sub_folders(const fs::path& dir) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      found.push_back(it->path());
    }
    if (found.size() > kMaxFilesPerFolder) {
      fail_folder(dir, "holds too many folders");
    }
  }
  if (error) {
    fail_folder(dir, "cannot be read: " + error.message());
  }
  std::ranges::sort(found);
  return found;
}

bool has_family(const fs::path& dir) {
  std::error_code ignored;
  return fs::is_regular_file(dir / "family.json", ignored);
}

[[noreturn]] void fail_too_large(const fs::path& path, std::size_t max_bytes) {
  throw Error(ExitCode::bad_file, fmt::format("is larger than {} bytes", max_bytes), path.string());
}

/// The size of a plain file, so that one that is too large is refused before it is read. 0 for
/// others, such as FIFOs, whose size only reading tells.
std::size_t known_size(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  return error ? 0 : bytes;
}

}  // namespace

std::string read_disk_file(const fs::path& path, std::size_t max_bytes) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw Error(ExitCode::bad_file, "is a folder, not a file", path.string());
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw Error(ExitCode::bad_file, "cannot be opened", path.string(),
                "check that the file exists and that you may read it");
  }
  const std::size_t size = known_size(path);
  if (size > max_bytes) {
    fail_too_large(path, max_bytes);
  }
  std::string bytes;
  bytes.reserve(size);
  std::vector<char> chunk(std::size_t{1} << 16);
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())),
         stream.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > max_bytes) {
      fail_too_large(path, max_bytes);
    }
  }
  if (stream.bad()) {
    throw Error(ExitCode::bad_file, "cannot be read to its end", path.string());
  }
  return bytes;
}

void FileTree::allow_links_into(const fs::path& dir) {
  std::error_code error;
  const fs::path real = fs::canonical(dir, error);
  if (!error) {
    roots_.push_back(real);
  }
}

std::string FileTree::read_overlay(const fs::path& file) const {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  const auto has_file = [&](const fs::path& root) { return is_within(real, root); };
  if (!error && std::ranges::none_of(roots_, has_file)) {
    throw Error(ExitCode::bad_file, fmt::format("leads out of the folder, to {}", real.string()),
                file.string(),
                "put the file itself into the folder, or name its folder with --include if you "
                "trust the family");
  }
  return read_disk_file(file);
}

/// The family's own name, which tells where its files go. The file is checked when it is loaded.
std::string FileTree::declared_name(const fs::path& dir) const {
  const fs::path file = dir / "family.json";
  const nlohmann::json value = parse_json(read_overlay(file), file.string());
  std::string name = JsonNode(value, file.string()).at("name").text();
  const bool plain = !name.empty() && name.find_first_of("/\\") == std::string::npos &&
                     name != "." && name != "..";
  if (!plain) {
    JsonNode(value, file.string()).at("name").fail("'" + name + "' cannot be a family's name");
  }
  return name;
}

void FileTree::overlay_folder(const fs::path& dir, const std::string& as) {
  std::error_code error;
  std::size_t count = 0;
  fs::recursive_directory_iterator it(dir, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    if (it.depth() > kMaxFolderDepth || ++count > kMaxFilesPerFolder) {
      fail_folder(dir, fmt::format("holds more than {} files, or folders deeper than {}",
                                   kMaxFilesPerFolder, kMaxFolderDepth));
    }
    std::error_code ignored;
    if (it->is_regular_file(ignored)) {
      overlay_[as + it->path().lexically_relative(dir).generic_string()] = it->path();
    }
  }
  if (error) {
    fail_folder(dir, "cannot be read: " + error.message());
  }
}

void FileTree::overlay_kernels(const fs::path& dir) {
  std::error_code error;
  if (!fs::is_directory(dir, error)) {
    fail_folder(dir, "is not a folder");
  }
  allow_links_into(dir);
  std::vector<fs::path> folders = has_family(dir) ? std::vector{dir} : sub_folders(dir);
  if (std::ranges::none_of(folders, has_family)) {
    fail_folder(dir, "holds no kernel family");
  }
  for (const fs::path& folder : folders) {
    if (has_family(folder)) {
      const std::string prefix = "kernels/" + declared_name(folder) + "/";
      std::erase_if(overlay_, [&](const auto& item) { return item.first.starts_with(prefix); });
      replaced_.push_back(prefix);
      overlay_folder(folder, prefix);
    } else {
      overlay_folder(folder, "kernels/" + folder.filename().string() + "/");
    }
  }
}

bool FileTree::is_users(std::string_view path) const { return overlay_.contains(path); }

bool FileTree::contains(std::string_view path) const {
  return is_users(path) || (!is_hidden(path, replaced_) && find_embedded(path) != nullptr);
}

std::string FileTree::read(std::string_view path) const {
  if (const fs::path* const file = value_at(overlay_, path)) {
    return read_overlay(*file);
  }
  const EmbeddedFile* file = is_hidden(path, replaced_) ? nullptr : find_embedded(path);
  if (file == nullptr) {
    throw Error(ExitCode::bad_file, "there is no such file", origin(path));
  }
  return std::string(file->bytes());
}

std::vector<std::string> FileTree::list(std::string_view prefix) const {
  std::set<std::string> found;
  for (const auto& [path, file] : overlay_) {
    if (path.starts_with(prefix)) {
      found.insert(path);
    }
  }
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string_view path = file.path;
    if (path.starts_with(prefix) && !is_hidden(path, replaced_)) {
      found.emplace(path);
    }
  }
  return {found.begin(), found.end()};
}

std::string FileTree::origin(std::string_view path) const {
  const fs::path* const file = value_at(overlay_, path);
  return file != nullptr ? file->string() : "<built in>/" + std::string(path);
}

IncludePaths::IncludePaths(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
      throw Error(ExitCode::usage, "is not a folder", folder.string(),
                  "--include names a folder with headers");
    }
    add(folder);
  }
  if (const auto& cuda = cuda_installation()) {
    for (const fs::path& folder : cuda->include_folders) {
      add(folder);
    }
  }
}

void IncludePaths::add(const fs::path& folder) {
  const fs::path plain = fs::absolute(folder).lexically_normal();
  folders_.push_back(plain.has_filename() ? plain : plain.parent_path());
}

std::optional<fs::path> IncludePaths::find(const std::string& name, const fs::path& beside) const {
  std::vector<fs::path> places = folders_;
  if (!beside.empty()) {
    places.insert(places.begin(), beside);
  }
  for (const fs::path& place : places) {
    const fs::path file = (place / name).lexically_normal();
    const auto has_file = [&](const fs::path& folder) { return is_within(file, folder); };
    std::error_code ignored;
    if (std::ranges::any_of(folders_, has_file) && fs::is_regular_file(file, ignored)) {
      return file;
    }
  }
  return std::nullopt;
}

}  // namespace fatune

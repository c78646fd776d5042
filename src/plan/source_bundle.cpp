#include "plan/source_bundle.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "plan/included_files.hpp"

namespace fatune {
namespace {

constexpr std::string_view kKernels = "kernels/";

constexpr std::array<std::string_view, 3> kHeaderEndings{".cuh", ".h", ".hpp"};
constexpr std::size_t kMostNameBytes = 200;  // std::regex recurses for each character
constexpr std::string_view kUnitEnding = ".cu";

bool is_header(std::string_view path) {
  return std::ranges::any_of(kHeaderEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_code(std::string_view path) { return is_header(path) || path.ends_with(kUnitEnding); }

std::string folder_of(const std::string& family) { return fmt::format("{}{}/", kKernels, family); }

SourceFile read_source(const FileTree& tree, const std::string& path) {
  return {path.substr(kKernels.size()), tree.read(path)};
}

/// Refuses names that mean something to a shell, and paths that leave the folder.
void check_plain_name(const JsonNode& source) {
  static const std::regex plain(R"((?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*)");
  const std::string name = source.text();
  if (name.size() > kMostNameBytes || !std::regex_match(name, plain)) {
    source.fail(
        fmt::format("'{}' cannot be a source's name", name),
        "use letters, digits, '_', '-' and '.', and '/' between folders within the family's "
        "own; no name begins with '-' or '.'");
  }
}

std::string find_main(const FileTree& tree, const std::string& folder, const JsonNode& source) {
  check_plain_name(source);
  std::string path = folder + source.text();
  if (!tree.contains(path)) {
    source.fail(fmt::format("there is no file '{}' in the family's folder", source.text()),
                "name the translation unit, such as \"kernel.cu\"");
  }
  return path;
}

void add_included(const FileTree& tree, const JsonNode& family, std::vector<SourceFile>& headers) {
  const std::size_t before = headers.size();
  for (const std::string& path : tree.list(folder_of(family.text()))) {
    if (is_code(path)) {
      headers.push_back(read_source(tree, path));
    }
  }
  if (headers.size() == before) {
    family.fail(fmt::format("there is no kernel code for a family '{}'", family.text()),
                "name a built-in family, or one that --kernel-dir adds too");
  }
}

}  // namespace

std::shared_ptr<const SourceBundle> load_sources(const FileTree& tree, const std::string& family,
                                                 const JsonNode& root, const JsonNode& source,
                                                 const IncludePaths& paths) {
  const std::string folder = folder_of(family);
  const std::string main_path = find_main(tree, folder, source);
  SourceBundle bundle{read_source(tree, main_path), {}};
  for (const std::string& prefix : {folder, folder_of("common")}) {
    for (const std::string& path : tree.list(prefix)) {
      if (is_header(path) && path != main_path) {
        bundle.headers.push_back(read_source(tree, path));
      }
    }
  }
  if (const auto includes = root.find("includes")) {
    for (const JsonNode& other : includes->elements()) {
      add_included(tree, other, bundle.headers);
    }
  }
  add_included_files(tree, family + "/", paths, bundle);
  return std::make_shared<const SourceBundle>(std::move(bundle));
}

}  // namespace fatune

#include "plan/source_bundle.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::string_view kKernels = "kernels/";

bool is_header(std::string_view path) {
  constexpr std::array<std::string_view, 3> kEndings{".cuh", ".h", ".hpp"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

SourceFile read_source(const FileTree& tree, const std::string& path) {
  return {path.substr(kKernels.size()), tree.read(path)};
}

}  // namespace

std::shared_ptr<const SourceBundle> load_sources(const FileTree& tree, const std::string& family,
                                                 const JsonNode& source) {
  const std::string folder = fmt::format("{}{}/", kKernels, family);
  const std::string main_path = folder + source.text();
  if (!tree.contains(main_path)) {
    source.fail(fmt::format("there is no file '{}' in the family's folder", source.text()),
                "name the translation unit, such as \"kernel.cu\"");
  }
  SourceBundle bundle{read_source(tree, main_path), {}};
  for (const std::string& prefix : {folder, std::string(kKernels) + "common/"}) {
    for (const std::string& path : tree.list(prefix)) {
      if (is_header(path) && path != main_path) {
        bundle.headers.push_back(read_source(tree, path));
      }
    }
  }
  return std::make_shared<const SourceBundle>(std::move(bundle));
}

}  // namespace fatune

#include "engine/kernel_sources.hpp"

#include <string>
#include <utility>
#include <vector>

#include "measure/measurement_kernels.hpp"

namespace fatune {
namespace {

/// `names`: the translation unit, then its headers.
std::shared_ptr<const SourceBundle> read_kernel_sources(const FileTree& tree,
                                                        const std::vector<std::string>& names) {
  auto bundle = std::make_shared<SourceBundle>();
  for (const std::string& name : names) {
    SourceFile file{name, tree.read("kernels/" + name)};
    if (bundle->main.name.empty()) {
      bundle->main = std::move(file);
    } else {
      bundle->headers.push_back(std::move(file));
    }
  }
  return bundle;
}

}  // namespace

std::shared_ptr<const SourceBundle> read_measurement_sources(const FileTree& tree) {
  return read_kernel_sources(tree, measurement_source_names());
}

std::shared_ptr<const SourceBundle> read_matmul_sources(const FileTree& tree) {
  return read_kernel_sources(tree, matmul_source_names());
}

}  // namespace fatune

#include "engine/kernel_sources.hpp"

#include <utility>

namespace fatune {

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

}  // namespace fatune

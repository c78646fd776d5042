#include "unit/measure/kernel_sources.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/compiler.hpp"
#include "measure/measurement_module.hpp"

namespace fatune {
SourceFile read_kernel_file(const std::string& name) {
  std::ifstream file(std::string(FATUNE_KERNELS_DIR) + "/" + name);
  if (!file) {
    throw std::runtime_error("cannot read kernels/" + name);
  }
  return {name, {std::istreambuf_iterator<char>(file), {}}};
}

std::shared_ptr<const SourceBundle> read_sources(const std::vector<std::string>& names) {
  auto bundle = std::make_shared<SourceBundle>();
  bundle->main = read_kernel_file(names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    bundle->headers.push_back(read_kernel_file(names[i]));
  }
  return bundle;
}

std::shared_ptr<const SourceBundle> read_measurement_sources() {
  return read_sources(measurement_source_names());
}

Artifact compile_or_throw(const CompileRequest& request) {
  CompileResult result = compile(request);
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(request.label + ": " + failed->log);
  }
  return std::get<Artifact>(std::move(result));
}

}  // namespace fatune

#include "unit/gpu/requests.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <stdexcept>

namespace fatune {
namespace {

/// The logger is set up before any thread starts, as in the program. The thread sanitizer does not
/// see into spdlog's library, and would report set-up and use in different threads as a race.
[[maybe_unused]] const auto kLogger = spdlog::default_logger();

}  // namespace

CompileRequest request_for(const std::string& source, const std::string& entry_point) {
  CompileRequest request;
  request.label = entry_point;
  request.sources = std::make_shared<SourceBundle>(SourceBundle{{"kernel.cu", source}, {}});
  request.entry_point = entry_point;
  request.arch = {90, 'a'};
  return request;
}

CompileRequest small_request(int tag) {
  return request_for(
      fmt::format("extern \"C\" __global__ void k(int* x) {{ *x = {} ; }}", 1000 + tag), "k");
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fatune-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("cannot create " + pattern);
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fatune

#pragma once

#include <filesystem>
#include <string>

#include "core/kernel_code.hpp"

namespace fatune {

/// A request for a source of one line or more; sm_90a, no options.
[[nodiscard]] CompileRequest request_for(const std::string& source, const std::string& entry_point);

/// A kernel `k` that compiles at once; different for each tag.
[[nodiscard]] CompileRequest small_request(int tag = 0);

/// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fatune

#pragma once

#include <filesystem>
#include <string>

#include "model/kernel_code.hpp"

namespace fatune {

/// A request to compile `source` for sm_90a without options.
[[nodiscard]] CompileRequest request_for(const std::string& source, const std::string& entry_point);

/// A request for a kernel `k` that compiles quickly. It differs for each tag.
[[nodiscard]] CompileRequest small_request(int tag = 0);

/// A temporary folder, which the destructor removes with its contents.
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

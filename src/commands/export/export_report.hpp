#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// A file that was written for another auto-tuner: the results of one kernel on one problem.
struct ExportedFile {
  std::string file;
  std::string device;
  std::string problem;  ///< describe() of it
  std::string kernel;
  std::size_t settings = 0;
  std::size_t timed = 0;  ///< how many of them have a time
};

/// JSON: configs/schema/export_files.schema.json.
[[nodiscard]] Document export_files_document(const std::vector<ExportedFile>& files);
[[nodiscard]] Fields<ExportedFile> exported_file_fields();

}  // namespace fatune

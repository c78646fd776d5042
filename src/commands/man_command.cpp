#include "commands/man_command.hpp"

#include "emit/output_file.hpp"

namespace fatune {

ExitCode write_manual(const std::filesystem::path& folder, const ManualPages& pages) {
  for (const auto& [name, text] : pages) {
    write_output_file(folder / name, text);
  }
  return ExitCode::ok;
}

}  // namespace fatune

#include <map>

#include "app/version.hpp"
#include "cli/read_pages.hpp"
#include "cli/subcommands.hpp"
#include "data/file_tree.hpp"
#include "emit/files.hpp"
#include "manual/command_page.hpp"

namespace fatune {
namespace {

/// The text of each manual page, by file name.
using ManualPages = std::map<std::string, std::string>;

/// Creates the folder and writes the pages into it. Throws Error(io).
ExitCode write_manual(const std::filesystem::path& folder, const ManualPages& pages) {
  for (const auto& [name, text] : pages) {
    write_output_file(folder / name, text);
  }
  return ExitCode::ok;
}

/// Returns the manual pages by file name, such as "fatune-sweep.1".
ManualPages write_pages(const CommandPage& program) {
  ManualPages pages;
  const ManualEdition edition{std::string(version()), std::string(version_date()),
                              FileTree().read("docs/reference.md")};
  for (const CommandPage* page : all_pages(program)) {
    pages[command_text(*page, "-") + ".1"] = manual_page(*page, program, edition);
  }
  return pages;
}

}  // namespace

void add_man_command(const Subcommands& all) {
  CLI::App* sub = all.parent.add_subcommand("man", "Write the manual pages into a folder");
  sub->group("");  // hidden from the help; the build uses it
  auto folder = std::make_shared<std::filesystem::path>();
  add_path_option(*sub, "DIR", "DIR", "the folder", *folder)->required();
  sub->callback([folder, &program = all.parent, &chosen = all.chosen] {
    chosen = [folder, pages = write_pages(read_pages(program))] {
      return write_manual(*folder, pages);
    };
  });
}

}  // namespace fatune

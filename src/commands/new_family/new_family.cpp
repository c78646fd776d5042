#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "cli/subcommands.hpp"
#include "plan/expression.hpp"
#include "print/files.hpp"

namespace fatune {
namespace {

struct NewFamilyOptions {
  std::filesystem::path folder;  ///< its name becomes the family's
  OutputOptions output;
};

namespace fs = std::filesystem;

constexpr std::string_view kTemplates = "configs/new_family/";
constexpr std::string_view kNameInTemplates = "my_attention";

/// A template, and where it is written.
struct NewFile {
  std::string_view source;
  fs::path target;
};

std::array<NewFile, 3> files_of(const fs::path& folder, const std::string& name) {
  return {{{"family.json", folder / "family.json"},
           {"kernel.cu", folder / (name + ".cu")},
           {"space.json", folder / "spaces" / (name + ".json")}}};
}

/// Returns the last part of the folder's path. Throws Error(usage) if no family can be called that.
std::string family_name(const FileTree& tree, const fs::path& folder) {
  const fs::path whole = (fs::absolute(folder) / "").lexically_normal().parent_path();
  std::string name = whole.filename().string();
  if (!is_identifier(name)) {
    throw Error(ExitCode::usage, fmt::format("'{}' cannot be a family's name", name), "DIR",
                "name a folder with a letter or underscore, then letters, digits and underscores, "
                "at most 64");
  }
  if (!tree.list("kernels/" + name + "/").empty()) {
    throw Error(ExitCode::usage, fmt::format("fatune's own kernels have a folder '{}'", name),
                "DIR", "choose another name");
  }
  return name;
}

std::string with_name(std::string text, const std::string& name) {
  for (std::size_t at = text.find(kNameInTemplates); at != std::string::npos;
       at = text.find(kNameInTemplates, at + name.size())) {
    text.replace(at, kNameInTemplates.size(), name);
  }
  return text;
}

void check_new(const fs::path& file) {
  if (fs::exists(fs::symlink_status(file))) {
    throw Error(ExitCode::io, "the file exists already", file.string(), "name another folder");
  }
  check_output_file(file);
}

/// Writes a small kernel family to a folder: a kernel that is right, its family.json and its space.
/// Throws Error(usage) for a name that a family cannot have, and Error(io) if a file exists already
/// or cannot be written.
ExitCode new_family(const NewFamilyOptions& options) {
  const FileTree tree;
  const std::string name = family_name(tree, options.folder);
  const std::array<NewFile, 3> files = files_of(options.folder, name);
  for (const NewFile& file : files) {
    check_new(file.target);
  }
  for (const NewFile& file : files) {
    write_output_file(file.target,
                      with_name(tree.read(fmt::format("{}{}", kTemplates, file.source)), name));
    print_note(options.output, "wrote " + file.target.string());
  }
  const std::string folder = shell_word(options.folder.string());
  print_note(options.output, fmt::format("next: fatune check --kernel-dir {0} --small\n"
                                         "      fatune sweep --kernel-dir {0} --seq 1024",
                                         folder));
  return ExitCode::ok;
}

}  // namespace

void add_new_family_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "new-family", "Write a small kernel of your own to start from", new_family);
  add_path_option(sub, "DIR", "DIR", "folder to write; its name becomes the kernel's",
                  options.folder)
      ->required();
  add_verbosity_options(sub, options.output);
  sub.footer(
      R"(Writes DIR/family.json, the kernel and its space of configurations. The kernel
is right on every length, full and causal, and short enough to replace step by
step (docs/bring-your-own-kernel.md).

Examples:
  fatune new-family my_attention
  fatune check --kernel-dir my_attention --small
  fatune sweep --kernel-dir my_attention --seq 1024)");
}

}  // namespace fatune

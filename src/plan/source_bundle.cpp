#include "plan/source_bundle.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKernels = "kernels/";
constexpr std::size_t kLongestName = 4096;  // that of a path on Linux

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-+./").find(c) != std::string_view::npos;
}

/// Takes the next "name" or <name> off the front; empty if there is none.
std::string_view take_name(std::string_view& text) {
  for (std::size_t open = 0; (open = text.find_first_of("\"<", open)) != std::string_view::npos;
       ++open) {
    const std::string_view rest = text.substr(open + 1, kLongestName);
    const std::size_t length = rest.find(text[open] == '<' ? '>' : '"');
    const std::string_view name = rest.substr(0, length);
    if (length != std::string_view::npos && !name.empty() &&
        std::ranges::all_of(name, is_name_character)) {
      text.remove_prefix(open + 1 + length + 1);
      return name;
    }
  }
  return {};
}

bool may_be_directive(std::string_view line) {
  return line.find('#') != std::string_view::npos || line.find("%:") != std::string_view::npos ||
         line.find("?\?=") != std::string_view::npos;
}

/// Whether a comment is open at the end of the line. `open`: whether one is at its beginning.
bool ends_in_comment(std::string_view line, bool open) {
  for (std::size_t at = 0; (at = line.find(open ? "*/" : "/*", at)) != std::string_view::npos;) {
    at += 2;
    open = !open;
  }
  return open;
}

/// Takes lines off the front, up to the end of the next directive, and returns that one.
std::string_view take_directive(std::string_view& text) {
  while (!text.empty()) {
    const char* const start = text.data();
    const std::string_view line = take_until(text, '\n');
    if (!may_be_directive(line)) {
      continue;
    }
    bool in_comment = ends_in_comment(line, false);
    for (std::string_view last = line;
         !text.empty() && (in_comment || trim(last).ends_with('\\'));) {
      last = take_until(text, '\n');
      in_comment = ends_in_comment(last, in_comment);
    }
    return {start, static_cast<std::size_t>(text.data() - start)};
  }
  return {};
}

/// Adds to the headers what the directives of the bundle's files name, and so on in those files:
/// all that the compiler may read, because it gets no other file. Files of the family's folder are
/// found beside the including file or from the folder's top; others, unless they are among the
/// headers, in `paths`. Each file is followed once. A file that is none of the family's gets one
/// name: that by which it is first included, or its path if another file has this name. Directives
/// that name it otherwise are changed, because the compiler finds it by this name alone.
class Follower {
 public:
  Follower(const FileTree& tree, std::string folder, const IncludePaths& paths,
           SourceBundle& bundle)
      : tree_(tree), folder_(std::move(folder)), paths_(paths), bundle_(bundle) {
    for (const SourceFile& header : bundle.headers) {
      known_.insert(header.name);
    }
    places_.resize(bundle.headers.size());
  }

  void run() {
    follow_own(bundle_.main);
    for (std::size_t i = 0; i < bundle_.headers.size(); ++i) {
      SourceFile file = bundle_.headers[i];  // a copy: the list grows
      if (const fs::path beside = places_[i]; beside.empty()) {
        follow_own(file);
      } else {
        rename(file, [&](const std::string& name) { return outside(name, beside); });
      }
      bundle_.headers[i] = std::move(file);
    }
  }

 private:
  void follow_own(SourceFile& file) {
    const fs::path beside = fs::path(file.name).parent_path();
    rename(file, [&](const std::string& name) {
      if (known_.contains(name) && !outside_names_.contains(name)) {
        return name;
      }
      const std::string own_name = own(name, beside);
      const std::string found = own_name.empty() ? own(name, folder_) : own_name;
      return found.empty() ? outside(name, {}) : found;
    });
  }

  /// Has the file's directives say what `name_of` returns for each name.
  template <typename NameOf>
  static void rename(SourceFile& file, NameOf name_of) {
    const std::string_view old = file.text;
    std::string text;
    std::size_t copied = 0;
    for (const std::string_view name : included_names(old)) {
      const auto at = static_cast<std::size_t>(name.data() - old.data());
      text.append(old.substr(copied, at - copied)).append(name_of(std::string(name)));
      copied = at + name.size();
    }
    text.append(old.substr(copied));
    file.text = std::move(text);
  }

  void add(const std::string& name, std::string text, const fs::path& place) {
    bundle_.headers.push_back({name, std::move(text)});
    places_.push_back(place);
    known_.insert(name);
  }

  /// Adds the family's file if there is one. Returns the name that it has, else nothing.
  std::string own(const std::string& name, const fs::path& below) {
    const std::string path = (below / name).lexically_normal().generic_string();
    if (!path.starts_with(folder_) || !tree_.contains(std::string(kKernels) + path)) {
      return {};
    }
    const std::string& own_name = known_.contains(name) ? path : name;
    if (!known_.contains(own_name)) {
      add(own_name, tree_.read(std::string(kKernels) + path), {});
    }
    return own_name;
  }

  /// Adds the file if there is one. Returns the name that it has.
  std::string outside(const std::string& name, const fs::path& beside) {
    const std::optional<fs::path> path = paths_.find(name, beside);
    if (!path) {
      return name;
    }
    const auto [found, is_new] = names_.try_emplace(path->string());
    if (is_new) {
      found->second = known_.contains(name) ? path->string() : name;
      outside_names_.insert(found->second);
      add(found->second, read_disk_file(*path), path->parent_path());
    }
    return found->second;
  }

  const FileTree& tree_;
  std::string folder_;
  const IncludePaths& paths_;
  SourceBundle& bundle_;
  std::vector<fs::path> places_;              ///< each header's folder, if that is not the family's
  std::set<std::string> known_;               ///< names that the bundle's headers have
  std::set<std::string> outside_names_;       ///< names of headers that are not the family's
  std::map<std::string, std::string> names_;  ///< files that are not the family's, keyed by path
};

constexpr std::array<std::string_view, 3> kHeaderEndings{".cuh", ".h", ".hpp"};
constexpr std::size_t kMostNameBytes = 200;  // std::regex recurses for each character
constexpr std::string_view kUnitEnding = ".cu";

bool is_header(std::string_view path) {
  return std::ranges::any_of(kHeaderEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

std::string folder_of(const std::string& family) { return fmt::format("{}{}/", kKernels, family); }

SourceFile read_source(const FileTree& tree, const std::string& path) {
  return {path.substr(kKernels.size()), tree.read(path)};
}

/// Refuses names that mean something to a shell, and paths that leave the folder.
void check_plain_name(const JsonNode& source) {
  static const std::regex plain(R"((?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*)");
  const std::string name = source.text();
  if (name.size() > kMostNameBytes || !std::regex_match(name, plain)) {
    source.fail(
        fmt::format("'{}' cannot be a source's name", name),
        "use letters, digits, '_', '-' and '.', and '/' between folders within the family's "
        "own; no name begins with '-' or '.'");
  }
}

std::string find_main(const FileTree& tree, const std::string& folder, const JsonNode& source) {
  check_plain_name(source);
  std::string path = folder + source.text();
  if (!tree.contains(path)) {
    source.fail(fmt::format("there is no file '{}' in the family's folder", source.text()),
                "name the translation unit, such as \"kernel.cu\"");
  }
  return path;
}

void add_included(const FileTree& tree, const JsonNode& family, std::vector<SourceFile>& headers) {
  const std::size_t before = headers.size();
  for (const std::string& path : tree.list(folder_of(family.text()))) {
    if (is_header(path) || path.ends_with(kUnitEnding)) {
      headers.push_back(read_source(tree, path));
    }
  }
  if (headers.size() == before) {
    family.fail(fmt::format("there is no kernel code for a family '{}'", family.text()),
                "name a built-in family, or one that --kernel-dir adds too");
  }
}

}  // namespace

std::vector<std::string_view> included_names(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty()) {
    std::string_view directive = take_directive(text);
    for (auto name = take_name(directive); !name.empty(); name = take_name(directive)) {
      names.push_back(name);
    }
  }
  return names;
}

std::shared_ptr<const SourceBundle> load_sources(const FileTree& tree, const std::string& family,
                                                 const JsonNode& root, const JsonNode& source,
                                                 const IncludePaths& paths) {
  const std::string folder = folder_of(family);
  const std::string main_path = find_main(tree, folder, source);
  SourceBundle bundle{read_source(tree, main_path), {}};
  for (const std::string& prefix : {folder, folder_of("common")}) {
    for (const std::string& path : tree.list(prefix)) {
      if (is_header(path) && path != main_path) {
        bundle.headers.push_back(read_source(tree, path));
      }
    }
  }
  if (const auto includes = root.find("includes")) {
    for (const JsonNode& other : includes->elements()) {
      add_included(tree, other, bundle.headers);
    }
  }
  Follower(tree, family + "/", paths, bundle).run();
  return std::make_shared<const SourceBundle>(std::move(bundle));
}

}  // namespace fatune

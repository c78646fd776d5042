#include "plan/included_files.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKernelsFolder = "kernels/";

std::string_view without_leading_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// Takes `word` off the front; returns false if it is not there.
bool take(std::string_view& line, std::string_view word) {
  line = without_leading_space(line);
  if (!line.starts_with(word)) {
    return false;
  }
  line.remove_prefix(word.size());
  return true;
}

std::string name_in(std::string_view line) {
  line = without_leading_space(line);
  const char close = line.starts_with('<') ? '>' : line.starts_with('"') ? '"' : '\0';
  const std::size_t end = close == '\0' ? std::string_view::npos : line.find(close, 1);
  return end == std::string_view::npos ? std::string() : std::string(line.substr(1, end - 1));
}

/// Follows #include lines, each file once.
class Follower {
 public:
  Follower(const FileTree& tree, std::string folder, const IncludePaths& paths,
           SourceBundle& bundle)
      : tree_(tree), folder_(std::move(folder)), paths_(paths), bundle_(bundle) {
    for (const SourceFile& header : bundle.headers) {
      known_.insert(header.name);
    }
  }

  void run() {
    follow(bundle_.main);
    for (std::size_t i = 0; i < bundle_.headers.size(); ++i) {
      follow(SourceFile(bundle_.headers[i]));  // a copy: the list grows
    }
    if (outside_.empty()) {
      return;
    }
    for (const fs::path& path : paths_.folders()) {
      bundle_.include_folders.push_back(path.string());
    }
    for (auto& [path, text] : outside_) {
      bundle_.included.push_back({names_.at(path), std::move(text)});
    }
  }

 private:
  void follow(const SourceFile& file) {
    const fs::path beside = fs::path(file.name).parent_path();
    for (const std::string& name : included_names(file.text)) {
      if (!known_.contains(name) && !add_own(name, beside) && !add_own(name, folder_)) {
        add_outside(name, {});
      }
    }
  }

  /// Returns false if the family has no such file.
  bool add_own(const std::string& name, const fs::path& below) {
    const std::string path = (below / name).lexically_normal().generic_string();
    if (!path.starts_with(folder_) || !tree_.contains(std::string(kKernelsFolder) + path)) {
      return false;
    }
    bundle_.headers.push_back({name, tree_.read(std::string(kKernelsFolder) + path)});
    known_.insert(name);
    return true;
  }

  void add_outside(const std::string& name, const fs::path& beside) {
    std::vector<std::pair<std::string, fs::path>> waiting{{name, beside}};
    while (!waiting.empty()) {
      const auto [next, folder] = std::move(waiting.back());
      waiting.pop_back();
      const std::optional<fs::path> path = find_outside(next, folder);
      if (!path || outside_.contains(path->string())) {
        continue;
      }
      names_[path->string()] = next;
      const std::string& text = outside_[path->string()] = read_disk_file(*path);
      for (std::string& included : included_names(text)) {
        waiting.emplace_back(std::move(included), path->parent_path());
      }
    }
  }

  [[nodiscard]] std::optional<fs::path> find_outside(const std::string& name,
                                                     const fs::path& beside) const {
    std::error_code ignored;
    if (!beside.empty() && fs::is_regular_file(beside / name, ignored)) {
      return (beside / name).lexically_normal();
    }
    const auto path = paths_.find(name);
    return path ? std::optional(path->lexically_normal()) : std::nullopt;
  }

  const FileTree& tree_;
  std::string folder_;
  const IncludePaths& paths_;
  SourceBundle& bundle_;
  std::set<std::string> known_;                 ///< names that the bundle's headers have
  std::map<std::string, std::string> outside_;  ///< text by path
  std::map<std::string, std::string> names_;    ///< the name in the #include line, by path
};

}  // namespace

std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take(line, "#") && take(line, "include")) {
      if (std::string name = name_in(line); !name.empty()) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

void add_included_files(const FileTree& tree, const std::string& folder, const IncludePaths& paths,
                        SourceBundle& bundle) {
  Follower(tree, folder, paths, bundle).run();
}

}  // namespace fatune

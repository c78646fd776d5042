#include "plan/family.hpp"

#include <algorithm>

#include "core/text_parts.hpp"

namespace fatune {

std::optional<std::size_t> find_parameter(const Family& family, std::string_view name) {
  const auto found = std::ranges::find(family.parameters, name, &Parameter::name);
  return found == family.parameters.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - family.parameters.begin()));
}

std::string parameter_names(const Family& family) {
  return joined(family.parameters, ", ", &Parameter::name);
}

std::vector<std::string> function_names(const Family& family) {
  std::vector<std::string> names;
  for (const auto& item : family.entry.items) {
    names.push_back(item.value.is_template ? family.kernel_name.value().function : item.value.name);
  }
  return names;
}

std::vector<std::string> family_names(const FileTree& tree) {
  constexpr std::string_view kPrefix = "kernels/";
  constexpr std::string_view kFile = "/family.json";
  std::vector<std::string> names;
  for (const std::string& path : tree.list(kPrefix)) {
    if (path.ends_with(kFile) && path.size() > kPrefix.size() + kFile.size()) {
      const std::string name =
          path.substr(kPrefix.size(), path.size() - kPrefix.size() - kFile.size());
      if (name.find('/') == std::string::npos) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace fatune

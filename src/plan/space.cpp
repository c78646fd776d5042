#include "plan/space.hpp"

#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "core/text_parts.hpp"
#include "data/json_file.hpp"
#include "plan/space_file.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

constexpr std::string_view kJson = ".json";

using SliceValues = std::vector<ParamValue>;

SliceValues slice_of(const SpaceFile& file, const Config& config) {
  SliceValues values;
  for (const std::size_t parameter : file.slices) {
    values.push_back(config.values[parameter]);
  }
  return values;
}

/// The product with one value for every parameter that defines no slice: one configuration of each
/// slice.
ConfigProduct one_of_each_slice(const SpaceFile& file, ConfigProduct product) {
  for (std::size_t i = 0; i < product.values.size(); ++i) {
    if (!is_among(i, file.slices)) {
      product.values[i].resize(1);
    }
  }
  return product;
}

std::set<SliceValues> slices_of(const SpaceFile& file) {
  std::set<SliceValues> found;
  for (const SpacePart& part : file.space.parts) {
    ConfigSet examples(part.configs.listed());
    for (const ConfigProduct& product : part.configs.products()) {
      examples.add(one_of_each_slice(file, product));
    }
    for (const Config& config : examples) {
      found.insert(slice_of(file, config));
    }
  }
  return found;
}

/// Reads "64,32" with any white space; nothing if the text is not a list of integers.
std::optional<SliceValues> parse_slice(std::string_view text) {
  SliceValues values;
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\t'; });
  const char* at = plain.data();
  const char* const end = plain.data() + plain.size();
  for (;;) {
    const auto read = std::from_chars(at, end, values.emplace_back());
    if (read.ec != std::errc{}) {
      return std::nullopt;
    }
    if (read.ptr == end) {
      return values;
    }
    if (*read.ptr != ',') {
      return std::nullopt;
    }
    at = read.ptr + 1;
  }
}

bool is_of(const Family& family, const JsonFile& file) {
  return file.root().at("family").text() == family.name;
}

/// The space files of the family: those in its own folder, and the common ones that name it.
std::vector<SpaceFile> read_all(const FileTree& tree, const Family& family) {
  std::vector<SpaceFile> files;
  std::set<std::string> seen;
  for (const std::string& folder :
       {"kernels/" + family.name + "/spaces/", std::string("configs/spaces/")}) {
    for (const std::string& path : tree.list(folder)) {
      const std::string key =
          path.ends_with(kJson)
              ? path.substr(folder.size(), path.size() - folder.size() - kJson.size())
              : "";
      if (key.empty() || seen.contains(key)) {
        continue;
      }
      const JsonFile file = load_json(tree, path, "space");
      if (is_of(family, file)) {
        files.push_back(read_space_file(tree, family, key, file));
        seen.insert(key);
      }
    }
  }
  return files;
}

[[noreturn]] void fail_unknown(const FileTree& tree, const Family& family, std::string_view text) {
  const std::string keys = joined(list_spaces(tree, family), ", ", &SpaceInfo::key);
  throw Error(ExitCode::usage,
              fmt::format("the family {} has no space '{}'", family.name, printable(text)), {},
              fmt::format("spaces: {}; or the path of a file ending in .json", keys));
}

Space take_slice(const SpaceFile& file, const SliceValues& values) {
  Space space = file.space;
  space.key = fmt::format("{}", fmt::join(values, ","));
  for (SpacePart& part : space.parts) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      part.configs = with_value(part.configs, file.slices[i], values[i]);
    }
  }
  return space;
}

/// "the part of tune with B_r = 64, B_c = 32"
std::string slice_summary(const SpaceFile& file, const Family& family, const SliceValues& values) {
  std::vector<std::string> facts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    facts.push_back(fmt::format("{} = {}", family.parameters[file.slices[i]].name, values[i]));
  }
  return fmt::format("the part of {} with {}", file.space.key, fmt::join(facts, ", "));
}

std::optional<Space> find_slice(const FileTree& tree, const Family& family,
                                const SliceValues& values) {
  for (const SpaceFile& file : read_all(tree, family)) {
    if (file.slices.size() == values.size() && slices_of(file).contains(values)) {
      Space space = take_slice(file, values);
      space.summary = slice_summary(file, family, values);
      return space;
    }
  }
  return std::nullopt;
}

/// The file of a key or a path; nothing if there is none for the key.
std::optional<JsonFile> find_file(const FileTree& tree, const Family& family,
                                  const std::string& key) {
  if (is_space_file(key)) {
    return load_json_from_disk(tree, key, "space");
  }
  const std::string path = space_path(tree, family, key);
  return path.empty() ? std::nullopt : std::optional(load_json(tree, path, "space"));
}

}  // namespace

Needs SpaceRule::needs() const {
  Needs needs = drops.needs();
  const auto add = [&](Needs more) {
    needs.problem = needs.problem || more.problem;
    needs.device = needs.device || more.device;
  };
  for (const auto& item : reason.items) {
    add(item.value.needs());
    if (item.when) {
      add(item.when->needs());
    }
  }
  return needs;
}

bool is_space_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(kJson);
}

std::string choose_space(const Family& family, const std::optional<std::string>& option,
                         const std::optional<std::string>& kernels_variable) {
  if (option) {
    return *option;
  }
  return kernels_variable && !kernels_variable->empty() ? *kernels_variable : family.default_space;
}

Space load_space(const FileTree& tree, const Family& family, std::string_view text) {
  const std::string key(text);
  if (const auto values = parse_slice(text)) {
    if (auto space = find_slice(tree, family, *values)) {
      return *std::move(space);
    }
    fail_unknown(tree, family, text);
  }
  const std::optional<JsonFile> file = find_file(tree, family, key);
  if (!file || (!is_space_file(text) && !is_of(family, *file))) {
    fail_unknown(tree, family, text);
  }
  return read_space_file(tree, family, key, *file).space;
}

bool has_space(const FileTree& tree, const Family& family, std::string_view text) {
  if (const auto values = parse_slice(text)) {
    return find_slice(tree, family, *values).has_value();
  }
  const std::optional<JsonFile> file = find_file(tree, family, std::string(text));
  return file && is_of(family, *file);
}

std::vector<SpaceInfo> list_spaces(const FileTree& tree, const Family& family) {
  std::vector<SpaceInfo> spaces;
  std::vector<SpaceInfo> slices;
  for (const SpaceFile& file : read_all(tree, family)) {
    spaces.push_back({file.space.key, file.space.summary});
    if (!file.slices.empty()) {
      for (const SliceValues& values : slices_of(file)) {
        slices.push_back(
            {fmt::format("{}", fmt::join(values, ",")), slice_summary(file, family, values)});
      }
    }
  }
  spaces.insert(spaces.end(), slices.begin(), slices.end());
  return spaces;
}

}  // namespace fatune

#include "plan/space.hpp"

#include <array>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "plan/config_text.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

constexpr std::string_view kJson = ".json";

/// A space as its file declares it, before a slice is chosen.
struct SpaceFile {
  Space space;
  std::vector<std::size_t> slices;  ///< parameter indices
};

/// The most configurations that a space may list, overlays included.
constexpr std::size_t kMostListed = std::size_t{1} << 18;
/// The most combinations of a product. They are not all kept in memory; going through them takes
/// some tens of seconds.
constexpr std::size_t kMostCombinations = 10'000'000;

/// The folders that may have a space of the family: its own, then the common one.
std::array<std::string, 2> space_folders(const Family& family) {
  return {"kernels/" + family.name + "/spaces/", "configs/spaces/"};
}

/// The path of the file with a space's key; empty if there is none.
std::string space_path(const FileTree& tree, const Family& family, const std::string& key) {
  for (const std::string& folder : space_folders(family)) {
    if (std::string path = folder + key + ".json"; tree.contains(path)) {
      return path;
    }
  }
  return {};
}

constexpr int kMaxNesting = 8;  // nesting of spaces that name spaces; a cycle exceeds it

/// The values of some parameters, each with the parameter's index.
using Axes = std::map<std::size_t, std::vector<ParamValue>>;

ParamValue read_axis_value(const Parameter& parameter, const JsonNode& node) {
  const nlohmann::json& raw = node.raw();
  const bool is_bool = parameter.type == ParameterType::boolean;
  if (raw.is_boolean() != is_bool) {
    node.fail(fmt::format("{} is not a value of {}", raw.dump(), parameter.name),
              fmt::format("{} takes {}", parameter.name, understood_values(parameter)));
  }
  try {
    return parse_value(parameter, raw.is_string() ? node.text() : raw.dump());
  } catch (const Error& error) {
    node.fail(error.what_was_wrong(), error.remedy());
  }
}

class SpaceReader {
 public:
  SpaceReader(const FileTree& tree, const Family& family, int nesting = 0)
      : tree_(tree), family_(family), nesting_(nesting) {}

  SpaceFile read(const std::string& key, const JsonNode& root) {
    SpaceFile file{{key, root.at("summary").text(), {}}, {}};
    const std::string family = root.at("family").text();
    if (family != family_.name) {
      root.at("family").fail(
          fmt::format("the space is for '{}', not for '{}'", family, family_.name),
          "choose a space of the family, or the family with --family");
    }
    SpacePart own;
    for (const JsonNode& part : root.at("configs").elements()) {
      read_part(part, own.configs, file.space.parts);
    }
    if (own.configs.size() > kMostCombinations) {
      fail_too_many(root.at("configs"), kMostCombinations);
    }
    if (own.configs.size() > 0) {
      file.space.parts.push_back(std::move(own));
    }
    if (const auto rules = root.find("rules")) {
      add_rules(*rules, file.space.parts);
    }
    if (const auto slices = root.find("slices")) {
      file.slices = read_slices(*slices);
    }
    return file;
  }

 private:
  /// Reads into `own`, or adds the parts of the space that the node names to `parts`.
  void read_part(const JsonNode& node, ConfigSet& own, std::vector<SpacePart>& parts) {
    const auto axes = node.find("axes");
    const auto list = node.find("list");
    const auto space = node.find("space");
    const auto overlay = node.find("overlay");
    if (int{axes.has_value()} + int{list.has_value()} + int{space.has_value()} != 1) {
      node.fail("needs exactly one of 'axes', 'list' and 'space'");
    }
    if (overlay && !list) {
      overlay->fail("an overlay goes with a 'list'");
    }
    if (space) {
      read_reference(*space, parts);
    } else if (axes) {
      own.add(product(*axes));
    } else {
      for (const Config& config : overlaid(*list, overlay)) {
        own.add(config);
      }
    }
  }

  void read_reference(const JsonNode& node, std::vector<SpacePart>& parts) {
    const std::string key = node.text();
    const std::string path = space_path(tree_, family_, key);
    if (path.empty()) {
      node.fail(fmt::format("{} has no space '{}'", family_.name, key));
    }
    if (nesting_ >= kMaxNesting) {
      node.fail("references from space to space are nested too deeply", "is there a cycle?");
    }
    const JsonFile file = load_json(tree_, path, "space");
    SpaceFile other = SpaceReader(tree_, family_, nesting_ + 1).read(key, file.root());
    std::move(other.space.parts.begin(), other.space.parts.end(), std::back_inserter(parts));
  }

  Axes read_axes(const JsonNode& node) {
    Axes axes;
    for (const auto& [name, values] : node.members()) {
      const auto parameter = find_parameter(family_, name);
      if (!parameter) {
        values.fail(fmt::format("{} has no parameter '{}'", family_.name, name),
                    "parameters: " + parameter_names(family_));
      }
      for (const JsonNode& value : values.elements()) {
        axes[*parameter].push_back(read_axis_value(family_.parameters[*parameter], value));
      }
    }
    return axes;
  }

  ConfigProduct product(const JsonNode& node) {
    const Axes axes = read_axes(node);
    ConfigProduct product{family_.name, {}};
    for (std::size_t i = 0; i < family_.parameters.size(); ++i) {
      if (!axes.contains(i)) {
        node.fail(fmt::format("has no values for the parameter '{}'", family_.parameters[i].name),
                  "'axes' must name every parameter: " + parameter_names(family_));
      }
      const std::set<ParamValue> values(axes.at(i).begin(), axes.at(i).end());
      product.values.emplace_back(values.begin(), values.end());
    }
    if (product.size() > kMostCombinations) {
      fail_too_many(node, kMostCombinations);
    }
    return product;
  }

  [[noreturn]] static void fail_too_many(const JsonNode& node, std::size_t most) {
    node.fail(fmt::format("gives more than {} configurations", most),
              "give fewer values, or split the space");
  }

  std::vector<Config> overlaid(const JsonNode& list, const std::optional<JsonNode>& overlay) {
    std::vector<Config> configs;
    for (const JsonNode& node : list.elements()) {
      try {
        configs.push_back(parse_config(family_, node.text()));
      } catch (const Error& error) {
        node.fail(error.what_was_wrong(), error.remedy());
      }
    }
    return overlay ? vary(std::move(configs), read_axes(*overlay), *overlay) : configs;
  }

  /// Every configuration with every combination of the axes' values.
  static std::vector<Config> vary(std::vector<Config> configs, const Axes& axes,
                                  const JsonNode& node) {
    for (const auto& [parameter, values] : axes) {
      if (configs.size() * values.size() > kMostListed) {
        fail_too_many(node, kMostListed);
      }
      std::vector<Config> varied;
      for (const Config& config : configs) {
        for (const ParamValue value : values) {
          varied.push_back(config);
          varied.back().values[parameter] = value;
        }
      }
      configs = std::move(varied);
    }
    return configs;
  }

  void add_rules(const JsonNode& list, std::vector<SpacePart>& parts) {
    for (const JsonNode& node : list.elements()) {
      const SpaceRule rule{
          node.at("id").text(), Expression(node.at("drops_when"), family_.symbols),
          read_choice(node.at("reason"), family_.symbols,
                      [&](const JsonNode& text) { return Reason(text, family_.symbols); })};
      for (SpacePart& part : parts) {
        part.rules.push_back(rule);
      }
    }
  }

  std::vector<std::size_t> read_slices(const JsonNode& list) {
    std::vector<std::size_t> slices;
    for (const JsonNode& node : list.elements()) {
      const auto parameter = find_parameter(family_, node.text());
      if (!parameter || family_.parameters[*parameter].type != ParameterType::integer) {
        node.fail(fmt::format("'{}' is not an int parameter of {}", node.text(), family_.name));
      }
      slices.push_back(*parameter);
    }
    return slices;
  }

  const FileTree& tree_;
  const Family& family_;
  int nesting_;
};

using SliceValues = std::vector<ParamValue>;

SliceValues slice_of(const SpaceFile& file, const Config& config) {
  return mapped(file.slices, [&](std::size_t parameter) { return config.values[parameter]; });
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
  for (const std::string& folder : space_folders(family)) {
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
        files.push_back(SpaceReader(tree, family).read(key, file.root()));
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
  for (const auto& item : reason.items) {
    needs.add(item.value.needs());
    needs.add(item.when ? item.when->needs() : Needs{});
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
  return SpaceReader(tree, family).read(key, file->root()).space;
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

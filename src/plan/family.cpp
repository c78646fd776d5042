#include "plan/family.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "plan/config_text.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {

std::optional<std::size_t> find_parameter(const Family& family, std::string_view name) {
  const auto found = std::ranges::find(family.parameters, name, &Parameter::name);
  return found == family.parameters.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - family.parameters.begin()));
}

std::vector<std::string> function_names(const Family& family) {
  return mapped(family.entry.items, [&](const auto& item) {
    return item.value.is_template ? family.kernel_name.value().function : item.value.name;
  });
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

namespace {

/// The readings of one text by several families.
class Readings {
 public:
  void add(const Family& family, std::string_view text) {
    try {
      configs_.push_back(parse_config(family, text));
    } catch (const UnreadableConfig& error) {
      if (!furthest_ || error.position() > furthest_->position()) {
        furthest_ = error;
      }
    }
  }

  [[nodiscard]] Config only(std::string_view text) const {
    if (configs_.empty()) {
      throw UnreadableConfig(*furthest_);
    }
    if (configs_.size() > 1) {
      throw Error(ExitCode::usage,
                  fmt::format("'{}' is a configuration of several families", printable(text)), {},
                  "choose one with --family: " + joined(configs_, ", ", &Config::family));
    }
    return configs_.front();
  }

 private:
  std::vector<Config> configs_;
  std::optional<UnreadableConfig> furthest_;
};

ParameterType read_type(const JsonNode& node) {
  const std::string text = node.text();
  return text == "bool"  ? ParameterType::boolean
         : text == "int" ? ParameterType::integer
                         : ParameterType::enumeration;
}

void read_enumerators(const JsonNode& values, Parameter& parameter) {
  for (const auto& [name, code] : values.members()) {
    if (!is_identifier(name)) {
      code.fail(fmt::format("'{}' is not an identifier", name));
    }
    parameter.enumerators.push_back({name, code.integer()});
    parameter.values.push_back(code.integer());
  }
}

void read_values(const JsonNode& node, Parameter& parameter) {
  const auto values = node.find("values");
  if (parameter.type == ParameterType::boolean) {
    if (values) {
      values->fail("a bool takes no list of values", "remove it");
    }
    parameter.values = {0, 1};
    return;
  }
  if (!values) {
    node.fail("has no member 'values'", "an int lists its values, an enum maps names to codes");
  }
  if (parameter.type == ParameterType::enumeration) {
    read_enumerators(*values, parameter);
  } else {
    for (const JsonNode& value : values->elements()) {
      parameter.values.push_back(value.integer());
    }
  }
  std::ranges::sort(parameter.values);
  if (std::ranges::adjacent_find(parameter.values) != parameter.values.end()) {
    values->fail("a value appears twice");
  }
}

void read_binding(const JsonNode& node, Parameter& parameter) {
  const bool of_problem = parameter.name == "dtype" || parameter.name == "d_head";
  const auto binds = node.find("binds");
  if (binds) {
    parameter.binds = binds->text() == "dtype" ? ProblemProperty::dtype : ProblemProperty::d_head;
  }
  if (of_problem && (!binds || binds->text() != parameter.name)) {
    node.fail(fmt::format("a parameter called {} must be bound to the problem", parameter.name),
              fmt::format("add \"binds\": \"{}\", or call it something else", parameter.name));
  }
}

Parameter read_parameter(const JsonNode& node) {
  Parameter parameter;
  parameter.name = node.at("name").text();
  parameter.type = read_type(node.at("type"));
  parameter.doc = node.at("doc").text();
  read_values(node, parameter);
  read_binding(node, parameter);
  return parameter;
}

/// Looks up a parameter by its name, and records that it has its place.
class Places {
 public:
  explicit Places(const std::vector<Parameter>& parameters) : parameters_(parameters) {}

  std::size_t take(const JsonNode& node, const std::string& name) {
    const auto found = std::ranges::find(parameters_, name, &Parameter::name);
    if (found == parameters_.end()) {
      node.fail(fmt::format("there is no parameter '{}'", name));
    }
    const auto index = static_cast<std::size_t>(found - parameters_.begin());
    if (!taken_.insert(index).second) {
      node.fail(fmt::format("the parameter '{}' already has a place in the short form", name));
    }
    return index;
  }

  void check_complete(const JsonNode& form) const {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!taken_.contains(i)) {
        form.fail(fmt::format("the parameter '{}' has no place", parameters_[i].name),
                  "every parameter needs a place in the tuple, a flag or a pattern");
      }
    }
  }

 private:
  const std::vector<Parameter>& parameters_;
  std::set<std::size_t> taken_;
};

void check_flag_text(const JsonNode& node, const std::string& text) {
  if (!std::ranges::all_of(text, is_word_character)) {
    node.fail(fmt::format("'{}' has a character other than letters, digits and underscores", text));
  }
}

/// A value ends where the next text begins, so that text must not be missing or begin with a digit.
void check_separated(const JsonNode& node, const ShortFormItem& item) {
  for (std::size_t i = 1; i < item.texts.size(); ++i) {
    const std::string& after = item.texts[i];
    const bool last = i + 1 == item.texts.size();
    const bool runs_on =
        after.empty() ? !last : std::isdigit(static_cast<unsigned char>(after[0])) != 0;
    if (runs_on) {
      node.fail("two values, or a value and a digit, are not separated",
                "put a letter or underscore between them");
    }
  }
}

ShortFormItem read_pattern(const JsonNode& node, Places& places,
                           const std::vector<Parameter>& parameters) {
  const std::string text = node.text();
  ShortFormItem item;
  std::size_t start = 0;
  for (std::size_t open = 0; (open = text.find('{', start)) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      node.fail("the '{' has no '}'");
    }
    item.texts.push_back(text.substr(start, open - start));
    item.values.push_back(places.take(node, text.substr(open + 1, close - open - 1)));
    if (parameters[item.values.back()].type != ParameterType::integer) {
      node.fail("only int parameters can be in a pattern", "give a bool a flag of its own");
    }
    start = close + 1;
  }
  item.texts.push_back(text.substr(start));
  for (const std::string& part : item.texts) {
    check_flag_text(node, part);
  }
  check_separated(node, item);
  return item;
}

ShortFormItem read_flag(const JsonNode& node, Places& places,
                        const std::vector<Parameter>& parameters) {
  const JsonNode text = node.at("text");
  const auto parameter = node.find("parameter");
  if (!parameter) {
    ShortFormItem item = read_pattern(text, places, parameters);
    if (item.values.empty()) {
      node.fail("does not stand for a parameter",
                "name a bool in \"parameter\", or an int in the text: \"load_{name}_tiles\"");
    }
    return item;
  }
  check_flag_text(text, text.text());
  ShortFormItem item{places.take(*parameter, parameter->text()), {text.text()}, {}};
  if (parameters[*item.flag].type != ParameterType::boolean) {
    parameter->fail(fmt::format("'{}' is not a bool", parameter->text()),
                    "an int goes in a pattern: {\"text\": \"tiles_{name}\"}");
  }
  return item;
}

std::string source_hash(const Family& family) {
  Sha256 hash;
  for (const auto& item : family.sources.items) {
    const SourceBundle& sources = *item.value;
    hash.update_file(sources.main.name, sources.main.text);
    for (const SourceFile& file : sources.headers) {
      hash.update_file(file.name, file.text);
    }
  }
  return hash.finish_hex();
}

}  // namespace

const Family* FamilySet::find(std::string_view name) const {
  return find_in(families_, name, &Family::name);
}

const Family& FamilySet::of(const Config& config) const {
  const Family* const family = find(config.family);
  if (family == nullptr) {
    throw Error(ExitCode::internal,
                fmt::format("a configuration of '{}' among those of {}", config.family, names()));
  }
  return *family;
}

std::string FamilySet::names() const { return joined(families_, {&kJoin, 1}, &Family::name); }

void FamilySet::keep_if(const std::function<bool(const Family&)>& keeps) {
  std::erase_if(families_, [&](const Family& family) { return !keeps(family); });
}

Config parse_config(const FamilySet& families, std::string_view text) {
  if (!families.several()) {
    return parse_config(families.all().front(), text);
  }
  Readings readings;
  for (const Family& family : families.all()) {
    readings.add(family, text);
  }
  return readings.only(text);
}

std::vector<Parameter> read_parameters(const JsonNode& list) {
  return mapped(list.elements(), read_parameter);
}

ShortForm read_short_form(const JsonNode& form, const std::vector<Parameter>& parameters) {
  Places places(parameters);
  ShortForm result;
  for (const JsonNode& name : form.at("tuple").elements()) {
    result.tuple.push_back(places.take(name, name.text()));
  }
  std::set<std::vector<std::string>> texts;
  for (const JsonNode& flag : form.elements_of("flags")) {
    result.items.push_back(read_flag(flag, places, parameters));
    if (!texts.insert(result.items.back().texts).second) {
      flag.at("text").fail("another flag has the same text");
    }
  }
  places.check_complete(form);
  return result;
}

SourceHashes source_hashes(const FamilySet& families) {
  SourceHashes hashes;
  for (const Family& family : families.all()) {
    hashes[family.name] = source_hash(family);
  }
  return hashes;
}

}  // namespace fatune

#include "cli/option_groups.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

template <typename T>
void append_new(std::vector<T>& values, T value) {
  if (!is_among(value, values)) {
    values.push_back(value);
  }
}

void check_not_empty(std::string_view part, std::string_view list, const std::string& option,
                     const std::string& remedy) {
  if (part.empty()) {
    throw Error(ExitCode::usage,
                list.empty() ? "the list is empty"
                             : fmt::format("the list '{}' has an empty element", list),
                option, remedy);
  }
}

}  // namespace

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

std::int64_t parse_integer(std::string_view text, const std::string& option, std::int64_t least,
                           std::int64_t greatest) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  const bool is_whole = read.ec == std::errc() && read.ptr == end;
  const bool overflows = read.ec == std::errc::result_out_of_range && read.ptr == end;
  if (!is_whole || value < least || value > greatest) {
    throw Error(ExitCode::usage,
                is_whole || overflows ? fmt::format("{} is out of range", text)
                                      : fmt::format("'{}' is not an integer", text),
                option, fmt::format("give an integer from {} to {}", least, greatest));
  }
  return value;
}

std::optional<std::int64_t> parse_run(std::string_view text, const std::string& option) {
  return text == "last" ? std::nullopt
                        : std::optional(parse_integer(text, option, 1,
                                                      std::numeric_limits<std::int64_t>::max()));
}

double parse_number(std::string_view text, const std::string& option, double least,
                    double greatest) {
  const auto value = whole_number<double>(text);
  const bool is_number = value && std::isfinite(*value);
  if (!is_number || *value < least || *value > greatest) {
    throw Error(ExitCode::usage,
                is_number ? fmt::format("{} is out of range", text)
                          : fmt::format("'{}' is not a number", text),
                option, fmt::format("give a number from {} to {}", least, greatest));
  }
  return *value;
}

std::vector<std::int64_t> parse_integer_list(std::string_view text, const std::string& option,
                                             std::int64_t least, std::int64_t greatest) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split_at_commas(text)) {
    check_not_empty(part, text, option,
                    least > 0 ? "give positive integers, as in 512,1024"
                              : fmt::format("give integers from {}, as in 0,2", least));
    append_new(values, parse_integer(part, option, least, greatest));
  }
  return values;
}

std::vector<DType> parse_dtype_list(std::string_view text, const std::string& option) {
  std::vector<DType> values;
  for (const std::string_view part : split_at_commas(text)) {
    check_not_empty(part, text, option, "give fp16, bf16 or fp16,bf16");
    append_new(values, parse_dtype(part));
  }
  return values;
}

std::filesystem::path read_path(const std::string& text, const std::string& option) {
  if (text.empty()) {
    throw Error(ExitCode::usage, "an empty name is neither a file nor a folder", option,
                "name one; is a shell variable not set?");
  }
  return text;
}

CLI::Option* add_paths(CLI::App& app, const std::string& name, const char* type,
                       const std::string& doc, std::vector<std::filesystem::path>& paths) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [name, &paths](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              paths.push_back(read_path(text, name));
            }
          },
          doc)
      ->type_name(type)
      ->allow_extra_args(!name.starts_with('-'));
}

}  // namespace fatune

#include "commands/kernel_file_name.hpp"

#include "core/is_among.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace fatune {
namespace {

bool is_plain(char c) { return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Replaces every run of other characters by one '_', and drops those at the ends.
std::string as_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_plain(c) || (!name.empty() && name.back() != '_')) {
      name += is_plain(c) ? c : '_';
    }
  }
  return name.substr(0, name.find_last_not_of('_') + 1);
}

/// FATUNE_ROW_STRIDE and 2048 give ".row_stride-2048"; FATUNE_CAUSAL and 1 give ".causal". Names of
/// defines contain neither '.' nor '-', so different constants give different texts.
std::string as_part(std::string define, const std::string& value) {
  constexpr std::string_view kPrefix = "FATUNE_";
  define.erase(0, define.starts_with(kPrefix) ? kPrefix.size() : 0);
  std::ranges::transform(define, define.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "." + define + (value == "1" ? "" : "-" + value);
}

bool is_of_family(const Family& family, const std::string& define) {
  return is_among(define, family.defines, &Define::name);
}

/// Returns the request's constants as a text. The parameters' defines are left out, because the
/// short form has them.
std::string constants_of(const Family& family, const CompileRequest& request) {
  std::string text;
  for (const auto& [name, value] : request.defines) {
    if (value != "0" && is_of_family(family, name)) {
      text += as_part(name, value);
    }
  }
  return text;
}

}  // namespace

std::string kernel_file_stem(const Family& family, const CompileRequest& request) {
  return family.name + "_" + as_name(request.label) + constants_of(family, request) + "." +
         arch_name(request.arch);
}

}  // namespace fatune

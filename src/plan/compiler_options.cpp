#include "plan/source_bundle.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

/// The names of an option, and the form of its value: "" (it has none), words ("on|off"), a range
/// ("1..16"), or one of the kinds below.
struct KnownOption {
  std::string_view names;
  std::string_view value;
};

constexpr std::string_view kNumbers = "numbers";      // "177,550"
constexpr std::string_view kWord = "word";            // letters, digits and underscores
constexpr std::string_view kAssembler = "assembler";  // an option of ptxas
constexpr std::string_view kBool = "true|false";
constexpr std::string_view kRegisters = "1..255";
constexpr std::string_view kCaching = "ca|cg|ci|cs|cv|wb|wt";

// NVRTC's options (https://docs.nvidia.com/cuda/nvrtc/) apart from those that name files or
// folders, choose another output, or are set by fatune.
constexpr std::array kOptions{
    KnownOption{"--std|-std", "c++03|c++11|c++14|c++17|c++20|c++23"},
    KnownOption{"--use_fast_math|-use_fast_math", ""},
    KnownOption{"--device-as-default-execution-space|-default-device", ""},
    KnownOption{"--maxrregcount|-maxrregcount", kRegisters},
    KnownOption{"--ptxas-options|-Xptxas", kAssembler},
    KnownOption{"--ftz|-ftz", kBool},
    KnownOption{"--prec-sqrt|-prec-sqrt", kBool},
    KnownOption{"--prec-div|-prec-div", kBool},
    KnownOption{"--fmad|-fmad", kBool},
    KnownOption{"--extra-device-vectorization|-extra-device-vectorization", ""},
    KnownOption{"--restrict|-restrict", ""},
    KnownOption{"--device-debug|-G", ""},
    KnownOption{"--generate-line-info|-lineinfo", ""},
    KnownOption{"--dopt|-dopt", "on|off"},
    KnownOption{"--Ofast-compile|-Ofc", "0|min|mid|max"},
    KnownOption{"--relocatable-device-code|-rdc", kBool},
    KnownOption{"--device-c|-dc", ""},
    KnownOption{"--device-w|-dw", ""},
    KnownOption{"--extensible-whole-program|-ewp", ""},
    KnownOption{"--split-compile|-split-compile", "1..16"},
    KnownOption{"--jump-table-density|-jtd", "0..101"},
    KnownOption{"--device-stack-protector|-device-stack-protector", kBool},
    KnownOption{"--modify-stack-limit|-modify-stack-limit", kBool},
    KnownOption{"--builtin-move-forward|-builtin-move-forward", kBool},
    KnownOption{"--builtin-initializer-list|-builtin-initializer-list", kBool},
    KnownOption{"--device-int128|-device-int128", ""},
    KnownOption{"--device-float128|-device-float128", ""},
    KnownOption{"--frandom-seed|-frandom-seed", kWord},
    KnownOption{"--minimal|-minimal", ""},
    KnownOption{"--version-ident", kBool},
    KnownOption{"--no-source-include|-no-source-include", ""},
    KnownOption{"--optimization-info|-opt-info", "inline"},
    KnownOption{"--disable-warnings|-w", ""},
    KnownOption{"--display-error-number|-err-no", ""},
    KnownOption{"--no-display-error-number|-no-err-no", ""},
    KnownOption{"--brief-diagnostics|-brief-diag", kBool},
    KnownOption{"--diag-error|-diag-error", kNumbers},
    KnownOption{"--diag-suppress|-diag-suppress", kNumbers},
    KnownOption{"--diag-warn|-diag-warn", kNumbers}};

// ptxas' options that decide code or diagnostics.
constexpr std::array kAssemblerOptions{
    KnownOption{"--verbose|-v", ""},
    KnownOption{"--opt-level|-O", "0..4"},
    KnownOption{"-O0|-O1|-O2|-O3|-O4", ""},
    KnownOption{"--maxrregcount|-maxrregcount", kRegisters},
    KnownOption{"--allow-expensive-optimizations|-allow-expensive-optimizations", kBool},
    KnownOption{"--fmad|-fmad", kBool},
    KnownOption{"--Ofast-compile|-Ofc", "0|min|mid|max"},
    KnownOption{"--def-load-cache|-dlcm", kCaching},
    KnownOption{"--def-store-cache|-dscm", kCaching},
    KnownOption{"--force-load-cache|-flcm", kCaching},
    KnownOption{"--force-store-cache|-fscm", kCaching},
    KnownOption{"--disable-optimizer-constants|-disable-optimizer-consts", ""},
    KnownOption{"--warn-on-spills|-warn-spills", ""},
    KnownOption{"--warn-on-local-memory-usage|-warn-lmem-usage", ""},
    KnownOption{"--warn-on-double-precision-use|-warn-double-usage", ""},
    KnownOption{"--disable-warnings|-w", ""},
    KnownOption{"--suppress-stack-size-warning|-suppress-stack-size-warning", ""},
    KnownOption{"--device-debug|-g", ""},
    KnownOption{"--generate-line-info|-lineinfo", ""},
    KnownOption{"--return-at-end|-ret-end", ""},
    KnownOption{"--split-compile|-split-compile", "1..16"}};

bool is_listed(std::string_view option, std::span<const KnownOption> list);

bool are_numbers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

bool is_within(std::string_view value, std::string_view least, std::string_view greatest) {
  const auto number = whole_number<int>(value);
  return number && *number >= whole_number<int>(least) && *number <= whole_number<int>(greatest);
}

bool is_one_of(std::string_view value, std::string_view words) {
  while (!words.empty()) {
    if (take_until(words, '|') == value) {
      return true;
    }
  }
  return false;
}

bool has_form(std::string_view value, std::string_view form) {
  if (form == kAssembler) {
    return is_listed(value, kAssemblerOptions);
  }
  if (form == kWord) {
    return !value.empty() && std::ranges::all_of(value, is_word_character);
  }
  if (form == kNumbers) {
    return are_numbers(value);
  }
  const std::size_t dots = form.find("..");
  return dots == std::string_view::npos
             ? is_one_of(value, form)
             : is_within(value, form.substr(0, dots), form.substr(dots + 2));
}

/// NVRTC takes the value of "--name" without '=' from the next option, which must not happen.
bool is_listed(std::string_view option, std::span<const KnownOption> list) {
  const std::size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  return std::ranges::any_of(list, [&](const KnownOption& known) {
    return is_one_of(name, known.names) &&
           (equals == std::string_view::npos
                ? known.value.empty()
                : !known.value.empty() && has_form(option.substr(equals + 1), known.value));
  });
}

std::string_view first_name(const KnownOption& option) {
  return option.names.substr(0, option.names.find('|'));
}

std::string first_names(std::span<const KnownOption> list) {
  return joined(list, ", ", first_name);
}

}  // namespace

bool is_plain_compiler_option(std::string_view option) { return is_listed(option, kOptions); }

std::string plain_compiler_options(std::string_view option) {
  const std::string_view asked = option.substr(0, option.find('='));
  const auto* const known = std::ranges::find_if(
      kOptions, [&](const KnownOption& one) { return is_one_of(asked, one.names); });
  if (known == kOptions.end()) {
    return first_names(kOptions);
  }
  const std::string_view name = first_name(*known);
  return known->value.empty() ? fmt::format("{} without a value", name)
         : known->value == kAssembler
             ? fmt::format("{}= one of {}", name, first_names(kAssemblerOptions))
             : fmt::format("{}={}", name, known->value);
}

}  // namespace fatune

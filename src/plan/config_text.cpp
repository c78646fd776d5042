#include "plan/config_text.hpp"

#include "plan/kernel_name.hpp"
#include "plan/short_form.hpp"

namespace fatune {
Config parse_config(const Family& family, std::string_view text) {
  return looks_like_kernel_name(family, text) ? parse_kernel_name(family, text)
                                              : parse_short_form(family, text);
}

std::vector<NamedValue> named_values(const Family& family, const Config& config) {
  std::vector<NamedValue> values;
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    values.push_back(
        {family.parameters[i].name, value_text(family.parameters[i], config.values.at(i))});
  }
  return values;
}

}  // namespace fatune

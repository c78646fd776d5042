#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/numbers.hpp"

// Options whose text fatune's own readers parse; their errors name the correct form.
namespace fatune {

inline constexpr std::int64_t kMostSamples = 1000000;

template <typename Reader>
CLI::Option* add_text_option(CLI::App& app, const std::string& name, const std::string& type,
                             const std::string& doc, Reader reader) {
  return app
      .add_option_function<std::string>(
          name, [reader](const std::string& text) { reader(text); }, doc)
      ->type_name(type);
}

/// Adds an integer option. `value`: an integer or an optional integer.
template <typename Integer>
CLI::Option* add_integer(CLI::App& app, const std::string& name, const std::string& doc,
                         std::int64_t least, std::int64_t greatest, Integer& value) {
  return add_text_option(app, name, "N", doc, [=, &value](const std::string& text) {
    if constexpr (requires { value.reset(); }) {
      value = static_cast<typename Integer::value_type>(parse_integer(text, name, least, greatest));
    } else {
      value = static_cast<Integer>(parse_integer(text, name, least, greatest));
    }
  });
}

}  // namespace fatune

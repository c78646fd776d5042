#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "model/config.hpp"

namespace fatune {

/// All combinations of the given values of each parameter.
struct ConfigProduct {
  std::string family;
  std::vector<std::vector<ParamValue>> values;  ///< each parameter's: ascending, unique, not empty

  /// Returns the greatest std::size_t if there are more.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool contains(const Config& config) const;
};

/// A set of configurations: listed ones in their order, then those of products, which are made
/// during iteration. No configuration comes twice. The memory does not grow with the size of the
/// products.
class ConfigSet {
 public:
  class Iterator;

  ConfigSet() = default;
  ConfigSet(std::initializer_list<Config> listed) : ConfigSet(std::vector<Config>(listed)) {}
  ConfigSet(
      const std::vector<Config>& listed);  // NOLINT(google-explicit-constructor): a list is a set

  void add(const Config& listed);
  void add(ConfigProduct product);

  /// The number of configurations. Duplicates across products are counted repeatedly.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool contains(const Config& config) const;
  [[nodiscard]] const std::vector<Config>& listed() const noexcept { return listed_; }
  [[nodiscard]] const std::vector<ConfigProduct>& products() const noexcept { return products_; }
  /// The distinct values of the parameter in the set, ascending.
  [[nodiscard]] std::set<ParamValue> values_of(std::size_t parameter) const;

  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  [[nodiscard]] bool is_before(std::size_t product, const Config& config) const;

  std::vector<Config> listed_;
  std::set<Config> lookup_;  ///< finds the listed ones
  std::vector<ConfigProduct> products_;
};

/// Iterates over a set once. The set must outlive it.
class ConfigSet::Iterator {
 public:
  using value_type = Config;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(const ConfigSet& set);

  [[nodiscard]] const Config& operator*() const noexcept { return config_; }
  [[nodiscard]] const Config* operator->() const noexcept { return &config_; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  [[nodiscard]] bool operator==(std::default_sentinel_t /*end*/) const noexcept {
    return !is_listed() && product_ == set_->products_.size();
  }

 private:
  void begin_product();
  void next_combination();
  void skip_repeats();
  [[nodiscard]] bool is_listed() const noexcept { return listed_ < set_->listed_.size(); }

  const ConfigSet* set_;
  Config config_;
  std::size_t listed_ = 0;           ///< index among the listed ones
  std::size_t product_ = 0;          ///< after the listed ones: index of the product
  std::vector<std::size_t> places_;  ///< each parameter's index of its value in the product
};

/// The configurations that have the value.
[[nodiscard]] ConfigSet with_value(const ConfigSet& set, std::size_t parameter, ParamValue value);
/// All configurations, with the value in place of their own.
[[nodiscard]] ConfigSet put_value(const ConfigSet& set, std::size_t parameter, ParamValue value);
/// Adds all of `more` to `set`.
void add_all(const ConfigSet& more, ConfigSet& set);

}  // namespace fatune

#include "plan/config_set.hpp"

#include <algorithm>
#include <limits>

namespace fatune {

std::size_t ConfigProduct::size() const {
  std::size_t size = 1;
  for (const auto& of_parameter : values) {
    if (size > std::numeric_limits<std::size_t>::max() / of_parameter.size()) {
      return std::numeric_limits<std::size_t>::max();
    }
    size *= of_parameter.size();
  }
  return size;
}

bool ConfigProduct::contains(const Config& config) const {
  return config.family == family &&
         std::ranges::equal(values, config.values, [](const auto& some, ParamValue value) {
           return std::ranges::binary_search(some, value);
         });
}

ConfigSet::ConfigSet(const std::vector<Config>& listed) {
  for (const Config& config : listed) {
    add(config);
  }
}

void ConfigSet::add(const Config& listed) {
  if (lookup_.insert(listed).second) {
    listed_.push_back(listed);
  }
}

void ConfigSet::add(ConfigProduct product) { products_.push_back(std::move(product)); }

std::size_t ConfigSet::size() const {
  std::size_t size = listed_.size();
  for (const ConfigProduct& product : products_) {
    const std::size_t more = product.size();
    size = more > std::numeric_limits<std::size_t>::max() - size
               ? std::numeric_limits<std::size_t>::max()
               : size + more;
  }
  return size;
}

bool ConfigSet::contains(const Config& config) const { return is_before(products_.size(), config); }

/// True if the configuration is listed or in one of the first `product` products.
bool ConfigSet::is_before(std::size_t product, const Config& config) const {
  return lookup_.contains(config) ||
         std::any_of(products_.begin(), products_.begin() + static_cast<std::ptrdiff_t>(product),
                     [&](const ConfigProduct& other) { return other.contains(config); });
}

std::set<ParamValue> ConfigSet::values_of(std::size_t parameter) const {
  std::set<ParamValue> values;
  for (const Config& config : listed_) {
    values.insert(config.values.at(parameter));
  }
  for (const ConfigProduct& product : products_) {
    values.insert(product.values.at(parameter).begin(), product.values.at(parameter).end());
  }
  return values;
}

ConfigSet::Iterator ConfigSet::begin() const { return Iterator(*this); }

ConfigSet with_value(const ConfigSet& set, std::size_t parameter, ParamValue value) {
  ConfigSet some;
  for (const Config& config : set.listed()) {
    if (config.values.at(parameter) == value) {
      some.add(config);
    }
  }
  for (ConfigProduct product : set.products()) {
    if (std::ranges::binary_search(product.values.at(parameter), value)) {
      product.values[parameter] = {value};
      some.add(std::move(product));
    }
  }
  return some;
}

ConfigSet put_value(const ConfigSet& set, std::size_t parameter, ParamValue value) {
  ConfigSet changed;
  for (Config config : set.listed()) {
    config.values.at(parameter) = value;
    changed.add(config);
  }
  for (ConfigProduct product : set.products()) {
    product.values.at(parameter) = {value};
    changed.add(std::move(product));
  }
  return changed;
}

void add_all(const ConfigSet& more, ConfigSet& set) {
  for (const Config& config : more.listed()) {
    set.add(config);
  }
  for (const ConfigProduct& product : more.products()) {
    set.add(product);
  }
}

ConfigSet::Iterator::Iterator(const ConfigSet& set) : set_(&set) {
  if (is_listed()) {
    config_ = set_->listed_.front();
  } else {
    begin_product();
    skip_repeats();
  }
}

ConfigSet::Iterator& ConfigSet::Iterator::operator++() {
  if (is_listed()) {
    ++listed_;
    if (is_listed()) {
      config_ = set_->listed_[listed_];
      return *this;
    }
    begin_product();
  } else {
    next_combination();
  }
  skip_repeats();
  return *this;
}

void ConfigSet::Iterator::begin_product() {
  if (*this == std::default_sentinel) {
    return;
  }
  const ConfigProduct& product = set_->products_[product_];
  places_.assign(product.values.size(), 0);
  config_.family = product.family;
  config_.values.clear();
  for (const auto& of_parameter : product.values) {
    config_.values.push_back(of_parameter.front());
  }
}

/// The last parameter's value changes first, so a product is traversed in ascending order.
void ConfigSet::Iterator::next_combination() {
  const auto& values = set_->products_[product_].values;
  for (std::size_t i = values.size(); i-- > 0;) {
    places_[i] = places_[i] + 1 == values[i].size() ? 0 : places_[i] + 1;
    config_.values[i] = values[i][places_[i]];
    if (places_[i] != 0) {
      return;
    }
  }
  ++product_;
  begin_product();
}

void ConfigSet::Iterator::skip_repeats() {
  while (*this != std::default_sentinel && set_->is_before(product_, config_)) {
    next_combination();
  }
}

}  // namespace fatune

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// Rows of features, one after another. NaN: the row does not have this feature.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  void add(const std::vector<float>& row) { values.insert(values.end(), row.begin(), row.end()); }
};

/// Regression by gradient-boosted trees: XGBoost (https://xgboost.readthedocs.io), whose library is
/// loaded on first use. The same rows, targets and seed give the same predictions.
class BoostedTrees {
 public:
  /// Returns why the library is missing. Returns nothing if it is there.
  [[nodiscard]] static std::optional<std::string> why_missing();
  /// Throws Error(usage) if the library is missing.
  static void check();

  /// Learns `targets`, one for each row. Throws Error(internal) if XGBoost fails. Preconditions:
  /// check() succeeds, and there is at least one row.
  BoostedTrees(const FeatureRows& rows, const std::vector<float>& targets, std::uint64_t seed);
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;
  ~BoostedTrees();

  /// Predicts a target for each row. Rows have as many columns as those of the constructor.
  [[nodiscard]] std::vector<float> predict(const FeatureRows& rows) const;

 private:
  struct Booster;
  std::unique_ptr<Booster> booster_;
};

}  // namespace fatune

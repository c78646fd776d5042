#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fatune {

/// Rows of features, one behind the other. Not a number: the row has no such feature.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  void add(const std::vector<float>& row) { values.insert(values.end(), row.begin(), row.end()); }
};

/// Regression by gradient-boosted trees: XGBoost (https://xgboost.readthedocs.io), whose library is
/// opened when it is first asked for. The same rows, targets and seed give the same predictions.
class BoostedTrees {
 public:
  /// Why there is no library; nothing when there is one.
  [[nodiscard]] static std::optional<std::string> why_missing();
  /// Error(usage) without the library.
  static void check();

  /// Learns `targets`, one a row. Error(internal) when XGBoost fails. Preconditions: check(), at
  /// least one row.
  BoostedTrees(const FeatureRows& rows, const std::vector<float>& targets, std::uint64_t seed);
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;
  ~BoostedTrees();

  /// A target for each row, which has as many columns as those learned from.
  [[nodiscard]] std::vector<float> predict(const FeatureRows& rows) const;

 private:
  struct Booster;
  std::unique_ptr<Booster> booster_;
};

}  // namespace fatune

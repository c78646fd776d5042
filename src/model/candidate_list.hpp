#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace fatune {

/// Names a candidate, which is one configuration on its way through one problem.
struct CandidateId {
  std::size_t index = 0;  ///< its place in the problem's list of candidates

  friend auto operator<=>(const CandidateId&, const CandidateId&) = default;
};

/// Items that belong to candidates (`item.id`), in the order in which they were added.
template <typename Item>
class CandidateList {
 public:
  /// Precondition: the list has no item of this candidate.
  Item& add(Item item) {
    positions_.emplace(item.id, items_.size());
    return items_.emplace_back(std::move(item));
  }
  /// Throws std::out_of_range when the candidate has no item.
  [[nodiscard]] Item& at(CandidateId id) { return items_[positions_.at(id)]; }
  [[nodiscard]] const Item& at(CandidateId id) const { return items_[positions_.at(id)]; }
  [[nodiscard]] bool contains(CandidateId id) const { return positions_.contains(id); }

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::map<CandidateId, std::size_t> positions_;
};

}  // namespace fatune

#include "search/choose_search.hpp"

#include <utility>

#include "search/exhaustive_search.hpp"
#include "search/local_search.hpp"
#include "search/model_search.hpp"
#include "search/point_source.hpp"

namespace fatune {
namespace {

template <typename Source>
std::shared_ptr<const CandidateSearch> limited(SearchKind kind, const SearchLimits& limits) {
  return std::make_shared<LimitedSearch<Source>>(enum_name(kind), limits);
}

/// Searches small problems exhaustively, and others with another search.
class BySize : public CandidateSearch {
 public:
  BySize(std::size_t most_exhaustive, std::shared_ptr<const CandidateSearch> large)
      : most_exhaustive_(most_exhaustive), large_(std::move(large)) {}

  [[nodiscard]] std::string name() const override { return large_->name(); }
  [[nodiscard]] std::unique_ptr<CandidateSource> begin(SearchSpace space) const override {
    const CandidateSearch& search = of(space.points.size());
    return search.begin(std::move(space));
  }
  [[nodiscard]] std::size_t most_tried(std::size_t configs) const override {
    return of(configs).most_tried(configs);
  }

 private:
  [[nodiscard]] const CandidateSearch& of(std::size_t configs) const {
    return configs <= most_exhaustive_ ? small_ : *large_;
  }

  std::size_t most_exhaustive_;
  ExhaustiveSearch small_;
  std::shared_ptr<const CandidateSearch> large_;
};

}  // namespace

bool learns(SearchKind kind, const SearchLimits& limits, std::size_t greatest) {
  return kind == SearchKind::local || kind == SearchKind::model ||
         (kind == SearchKind::automatic && greatest > most_exhaustive(limits));
}

std::shared_ptr<const CandidateSearch> choose_search(SearchKind kind, const SearchLimits& limits,
                                                     std::size_t greatest) {
  switch (kind) {
    case SearchKind::exhaustive:
      return std::make_shared<ExhaustiveSearch>(limits.max_configs);
    case SearchKind::random:
      return limited<RandomSource>(kind, limits);
    case SearchKind::local:
      return limited<LocalSource>(kind, limits);
    case SearchKind::model:
      return limited<ModelSource>(kind, limits);
    case SearchKind::automatic:
      break;
  }
  if (!learns(kind, limits, greatest)) {
    return std::make_shared<ExhaustiveSearch>();
  }
  return std::make_shared<BySize>(most_exhaustive(limits), limited<AutomaticSource>(kind, limits));
}

}  // namespace fatune

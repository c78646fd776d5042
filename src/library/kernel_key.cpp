#include "library/kernel_key.hpp"

#include <algorithm>
#include <variant>

#include "plan/scope.hpp"

namespace fatune {
namespace {

/// Whether it differs between problems or devices. Parameters alone do not.
bool varies(Needs needs) { return needs.problem || needs.device; }

class Parts {
 public:
  explicit Parts(const Family& family) : family_(family) {}

  void add(const Expression& expression) {
    if (varies(expression.needs())) {
      found_.push_back({&expression, 0});
    }
  }
  void add(const Reason& text) {
    for (const Reason::Hole& hole : text.holes()) {
      if (hole.expression) {
        add(*hole.expression);
      } else if (varies(family_.symbols.needs(hole.symbol))) {
        found_.push_back({nullptr, hole.symbol});
      }
    }
  }
  template <typename Value>
  void add_conditions(const Choice<Value>& choice) {
    for (const auto& item : choice.items) {
      if (item.when) {
        add(*item.when);
      }
    }
  }
  void add(const Define& define) {
    add_conditions(define.value);
    for (const auto& item : define.value.items) {
      if (const auto* number = std::get_if<Expression>(&item.value)) {
        add(*number);
      } else if (const auto* text = std::get_if<Reason>(&item.value)) {
        add(*text);
      }
    }
  }
  [[nodiscard]] std::vector<KeyPart> found() && { return std::move(found_); }

 private:
  const Family& family_;
  std::vector<KeyPart> found_;
};

}  // namespace

std::vector<KeyPart> key_parts(const Family& family) {
  Parts parts(family);
  parts.add_conditions(family.sources);
  parts.add_conditions(family.entry);
  for (const auto& option : family.options) {
    parts.add_conditions(option);
  }
  for (const Define& define : family.defines) {
    parts.add(define);
  }
  return std::move(parts).found();
}

std::vector<double> kernel_key(const Family& family, const Config& config, const Problem& problem,
                               const DeviceLimits& limits) {
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  std::vector<double> key{static_cast<double>(limits.arch.sm)};
  for (const KeyPart& part : key_parts(family)) {
    key.push_back(part.expression != nullptr ? part.expression->number(scope) : scope[part.symbol]);
  }
  return key;
}

std::size_t key_length(const Family& family) { return 1 + key_parts(family).size(); }

namespace {

constexpr int kLeastLog2 = 4;
constexpr int kMostLog2 = 17;
constexpr std::int64_t kStep = 16;
constexpr std::int64_t kMostTile = 512;
constexpr std::int64_t kLong = 4096;

/// Powers of two, and short and long multiples of 16. Tiles of every size divide some of them.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all;
  for (int log2 = kLeastLog2; log2 <= kMostLog2; ++log2) {
    all.push_back(std::int64_t{1} << log2);
  }
  for (std::int64_t length = kStep; length <= kMostTile; length += kStep) {
    all.push_back(length);
    all.push_back(kLong + length);
  }
  return all;
}

std::vector<Problem> with_other_lengths(const Problem& tuned) {
  std::vector<Problem> problems{tuned};
  const auto add = [&](std::int64_t queries, std::int64_t keys) {
    Problem& other = problems.emplace_back(tuned);
    other.seq_len = queries;
    other.seq_len_kv = keys;
  };
  for (const std::int64_t length : lengths()) {
    for (const std::int64_t keys : {length, length - 1}) {
      add(keys, keys);
      add(length / 2, keys);
    }
  }
  return problems;
}

/// Whether the row has the configuration's time, or the configuration is the row's default.
bool serves(const TunedTable& table, const TunedProblem& row, const Config& config) {
  return row.find(config) != row.times.end() ||
         std::ranges::any_of(table.defaults, [&](const DefaultConfig& known) {
           return known.config == config && known.gpu == row.gpu &&
                  known.causal == row.problem.causal && known.dtype == row.problem.dtype &&
                  known.d_head == row.problem.d_head && known.d_head_v == row.problem.d_head_v;
         });
}

}  // namespace

std::vector<KernelCase> kernel_cases(const TunedTable& table, const Config& config) {
  std::vector<KernelCase> cases;
  for (const TunedProblem& row : table.problems) {
    if (!serves(table, row, config)) {
      continue;
    }
    for (Problem problem : with_other_lengths(row.problem)) {
      for (const bool lse : {row.problem.lse, !row.problem.lse}) {
        problem.lse = lse;
        cases.push_back({problem, &table.gpus.at(row.gpu)});
      }
    }
  }
  return cases;
}

}  // namespace fatune

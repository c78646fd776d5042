// Reads a family's "shared_tensors", and evaluates them for a configuration.
#include "plan/shared_tensors.hpp"

#include <array>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

// More than the shared memory of any block.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

Expression expression_or(const JsonNode& item, const char* member, const char* otherwise,
                         const SymbolTable& symbols) {
  const auto node = item.find(member);
  return node ? Expression(node->text(), symbols, node->where())
              : Expression(otherwise, symbols, item.where());
}

Expression required(const JsonNode& item, const char* member, const SymbolTable& symbols) {
  const JsonNode node = item.at(member);
  return {node.text(), symbols, node.where()};
}

/// Evaluates a rule's expressions for one configuration, and rejects impossible values.
class Evaluation {
 public:
  Evaluation(const SharedTensorRule& rule, const std::vector<double>& scope)
      : rule_(rule), scope_(scope) {}

  [[nodiscard]] SharedTensor tensor() const {
    SharedTensor tensor;
    tensor.name = rule_.name;
    tensor.offset_bytes = value(rule_.offset_bytes);
    tensor.stages = value(rule_.stages);
    tensor.rows = value(rule_.rows);
    tensor.columns = positive(rule_.columns);
    tensor.element_bytes = positive(rule_.element_bytes);
    tensor.panel_columns = value_or(rule_.panel_columns, tensor.columns);
    tensor.row_bytes = value_or(rule_.row_bytes, tensor.panel_columns * tensor.element_bytes);
    tensor.stage_bytes = value_or(
        rule_.stage_bytes, tensor.columns / tensor.panel_columns * tensor.rows * tensor.row_bytes);
    add_swizzle(tensor);
    check(tensor);
    return tensor;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, rule_.where);
  }

  [[nodiscard]] std::int64_t value(const Expression& of) const {
    const std::int64_t value = of.integer(scope_);
    if (value < 0 || value > kMostBytes) {
      fail(fmt::format("\"{}\" gives {}, outside 0 to {}", of.text(), value, kMostBytes));
    }
    return value;
  }
  [[nodiscard]] std::int64_t positive(const Expression& of) const {
    if (value(of) == 0) {
      fail(fmt::format("\"{}\" gives 0", of.text()));
    }
    return value(of);
  }
  [[nodiscard]] std::int64_t value_or(const Expression& of, std::int64_t otherwise) const {
    const std::int64_t given = value(of);
    return given == 0 ? otherwise : given;
  }

  void add_swizzle(SharedTensor& tensor) const {
    constexpr std::int64_t kLongestLine = 128;
    constexpr std::array<std::int64_t, 4> kLines{0, 32, 64, kLongestLine};
    tensor.swizzle_bytes = value(rule_.swizzle_bytes);
    if (!is_among(tensor.swizzle_bytes, kLines)) {
      fail(fmt::format("\"{}\" gives a swizzle of {} bytes; it must be 0, 32, 64 or 128",
                       rule_.swizzle_bytes.text(), tensor.swizzle_bytes));
    }
    const std::int64_t line = tensor.swizzle_bytes == 0 ? kLongestLine : tensor.swizzle_bytes;
    tensor.swizzle_rows = value_or(rule_.swizzle_rows, kLongestLine / line);
  }

  void check(const SharedTensor& tensor) const {
    if (tensor.columns % tensor.panel_columns != 0) {
      fail(fmt::format("panels of {} columns do not divide {}", tensor.panel_columns,
                       tensor.columns));
    }
    if (tensor.row_bytes < tensor.panel_columns * tensor.element_bytes) {
      fail(fmt::format("{} bytes from row to row are less than the size of a row",
                       tensor.row_bytes));
    }
    if (tensor.swizzle_bytes > 0 && tensor.row_bytes % tensor.swizzle_bytes != 0) {
      fail(fmt::format("a swizzle of {} bytes does not divide rows of {}", tensor.swizzle_bytes,
                       tensor.row_bytes));
    }
    if (tensor.rows > 0 && tensor.stage_bytes < tensor.columns / tensor.panel_columns *
                                                    tensor.rows * tensor.row_bytes) {
      fail(fmt::format("{} bytes from stage to stage are less than the size of a stage",
                       tensor.stage_bytes));
    }
  }

  const SharedTensorRule& rule_;
  const std::vector<double>& scope_;
};

}  // namespace

std::vector<SharedTensorRule> read_shared_tensors(const JsonNode& list,
                                                  const SymbolTable& symbols) {
  std::vector<SharedTensorRule> rules;
  for (const JsonNode& item : list.elements()) {
    const auto optional = [&](const char* member, const char* otherwise) {
      return expression_or(item, member, otherwise, symbols);
    };
    rules.push_back({item.where(), item.at("name").text(), required(item, "offset_bytes", symbols),
                     optional("stages", "1"), optional("stage_bytes", "0"),
                     required(item, "rows", symbols), required(item, "columns", symbols),
                     required(item, "element_bytes", symbols), optional("panel_columns", "0"),
                     optional("row_bytes", "0"), optional("swizzle_bytes", "0"),
                     optional("swizzle_rows", "0")});
  }
  return rules;
}

std::vector<SharedTensor> shared_tensors(const Family& family, const Config& config,
                                         const Problem& problem, const DeviceLimits& limits) {
  const std::vector<double> scope = make_scope(family, config, &problem, &limits);
  return mapped(family.shared_tensors,
                [&](const SharedTensorRule& rule) { return Evaluation(rule, scope).tensor(); });
}

}  // namespace fatune

// Reads a family's "estimate", and evaluates it for a configuration.
#include "plan/estimate_rule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

/// In the order of TileOrder.
constexpr std::array<std::string_view, 4> kTileOrders{"even", "in_turn", "when_free", "one_ahead"};

TileOrder read_order(const JsonNode& node) {
  const auto* const found = std::ranges::find(kTileOrders, node.text());
  if (found == kTileOrders.end()) {
    node.fail(fmt::format("'{}' is not an order of tiles", node.text()),
              fmt::format("one of {}", fmt::join(kTileOrders, ", ")));
  }
  return static_cast<TileOrder>(found - kTileOrders.begin());
}

TileScheduleRule read_schedule(const JsonNode& node, SymbolTable& symbols) {
  auto order = read_choice(node.at("order"), symbols, read_order);
  Expression sms(node.at("sms"), symbols);
  Expression heads(node.at("heads"), symbols);
  Expression section_heads(node.at("section_heads"), symbols);
  Expression rows(node.at("rows"), symbols);
  if (symbols.find("row")) {
    node.fail("'row' is the place of a tile here, and the name of something else", "rename that");
  }
  const std::size_t row = symbols.add("row", {.problem = true});
  return {std::move(order),
          std::move(sms),
          std::move(heads),
          std::move(section_heads),
          std::move(rows),
          {node.at("steps"), symbols},
          row};
}

std::vector<std::size_t> read_not_fitted(const JsonNode& model,
                                         const std::vector<Parameter>& parameters) {
  std::vector<std::size_t> places;
  for (const JsonNode& node : model.elements_of("not_fitted")) {
    const auto found = std::ranges::find(parameters, node.text(), &Parameter::name);
    if (found == parameters.end()) {
      node.fail(fmt::format("there is no parameter '{}'", node.text()),
                "one of " + joined(parameters, ", ", &Parameter::name));
    }
    places.push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  return places;
}

TimeModelRule read_model(const JsonNode& node, const std::vector<Parameter>& parameters,
                         SymbolTable& symbols) {
  return {read_derived(node.elements_of("quantities"), symbols),  // which the others may name
          {node.at("launch_clocks"), symbols},
          {node.at("tile_clocks"), symbols},
          {node.at("step_clocks"), symbols},
          find_expression(node, "memory_clocks", symbols),
          read_not_fitted(node, parameters),
          read_schedule(node.at("schedule"), symbols)};
}

EstimateCheck read_check(const JsonNode& node) {
  const JsonNode correlation = node.at("rank_correlation");
  const auto behind = node.find("most_behind_percent");
  const auto least = node.find("least_queries");
  return {node.at("on").text(),
          parse_arch(node.at("arch").text()),
          static_cast<int>(node.at("problems").integer()),
          correlation.at("least").number(),
          correlation.at("greatest").number(),
          behind ? std::optional(behind->number()) : std::nullopt,
          node.at("held_out").boolean(),
          least ? least->integer() : 1};
}

/// Evaluates a model for one configuration, and rejects impossible values.
class ModelEvaluation {
 public:
  ModelEvaluation(const TimeModelRule& rule, const std::string& file, std::vector<double> scope)
      : rule_(rule), file_(file), scope_(std::move(scope)) {
    for (const Derived& quantity : rule_.quantities) {
      scope_[quantity.symbol] = quantity.value.number(scope_);
    }
  }

  [[nodiscard]] TimeModel model() {
    TimeModel model;
    model.launch_clocks = clocks(rule_.launch_clocks);
    model.tile_clocks = clocks(rule_.tile_clocks);
    model.step_clocks = clocks(rule_.step_clocks);
    model.memory_clocks = rule_.memory_clocks ? clocks(*rule_.memory_clocks) : 0.0;
    set(model.schedule);
    return model;
  }

 private:
  [[nodiscard]] double at_least(double least, const Expression& of) const {
    const double value = of.number(scope_);
    if (value < least) {
      throw Error(ExitCode::bad_file,
                  fmt::format("\"{}\" gives {}, less than {}", of.text(), value, least),
                  file_ + ": /estimate/model");
    }
    return value;
  }
  [[nodiscard]] double clocks(const Expression& of) const { return at_least(0.0, of); }
  [[nodiscard]] std::int64_t count(const Expression& of) const {
    return static_cast<std::int64_t>(at_least(1.0, of));
  }

  void set(TileSchedule& schedule) {
    const TileScheduleRule& rule = rule_.schedule;
    schedule.order = rule.order.of(scope_);
    schedule.sms = count(rule.sms);
    schedule.heads = count(rule.heads);
    schedule.section_heads = count(rule.section_heads);
    schedule.list_rows(count(rule.rows));
    for (int i = 0; i < schedule.rows; ++i) {
      scope_[rule.row_symbol] = schedule.row(i);
      schedule.row_steps.at(static_cast<std::size_t>(i)) = clocks(rule.steps);
    }
  }

  const TimeModelRule& rule_;
  const std::string& file_;
  std::vector<double> scope_;
};

}  // namespace

EstimateRule read_estimate(const JsonNode& root, const std::vector<Parameter>& parameters,
                           SymbolTable& symbols) {
  const auto node = root.find("estimate");
  EstimateRule rule;
  if (!node) {
    return rule;
  }
  if (const auto model = node->find("model")) {
    rule.model = read_model(*model, parameters, symbols);
  }
  if (const auto checked = node->find("checked")) {
    rule.checked = read_check(*checked);
  }
  return rule;
}

std::optional<TimeModel> time_model(const ConfigCase& of) {
  const auto& model = of.family.estimate.model;
  return model ? std::optional(ModelEvaluation(*model, of.family.file, make_scope(of)).model())
               : std::nullopt;
}

std::string order_sentence(const Family& family, Arch arch, std::int64_t least_queries) {
  const auto& checked = family.estimate.checked;
  if (!checked) {
    return fmt::format(
        "the order of {}'s estimates means nothing: they were never compared with "
        "measured times",
        family.name);
  }
  const auto& behind = checked->most_behind_percent;
  return fmt::format(
      "the order of {}'s estimates: rank correlation {:.2f} to {:.2f} with measured times of {}{} "
      "({} problems{}){}{}",
      family.name, checked->least_rank_correlation, checked->greatest_rank_correlation, checked->on,
      behind ? fmt::format(", lowest estimate at most {} % behind the fastest", *behind) : "",
      checked->problems, checked->held_out ? ", each left out of the calibration" : "",
      checked->arch.sm == arch.sm ? "" : fmt::format("; on {} it is not known", arch_name(arch)),
      least_queries >= checked->least_queries
          ? ""
          : fmt::format("; for fewer than {} queries, as in decoding, it is not known",
                        checked->least_queries));
}

}  // namespace fatune

#pragma once

#include <optional>
#include <vector>

#include "choose/tuned_table.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Evaluates the model of a configuration's time; nothing: its family has none.
[[nodiscard]] std::optional<fatune_attention::detail::ModelTime> find_model_time(
    const ConfigCase& of);

/// Evaluates the models of the families on the rows with times of one that has one
/// (TunedProblem::known). A configuration that has a time on another row of the same origin, but
/// none on this one, lost the race here. Call it before finish_table().
void add_model_times(TunedTable& table, const FamilySet& families);

/// Fits the times of configurations, those of all problems with the same head dimensions, few
/// queries or more, and so on, of any mask and element type, on each GPU, to what is known of them,
/// by least squares of logarithms (docs/export.md has the method). For each kind of problems,
/// configurations have a fit that combine the parameters that fits tell apart of one that was
/// measured on it with the other parameters of any that was (TunedTable::not_fitted).
[[nodiscard]] std::vector<FittedTime> fit_times(const TunedTable& table);

/// The fits that the row has a part in, as if it had not been tuned, nor the same problem of the
/// other element type.
[[nodiscard]] std::vector<FittedTime> fit_times_without(const TunedTable& table,
                                                        const TunedProblem& row);

}  // namespace fatune

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "choose/tuned_choice.hpp"
#include "choose/tuned_table.hpp"

namespace fatune::samples {

/// A device of 100 SMs.
[[nodiscard]] DeviceLimits gpu(const std::string& name = "GPU A", Arch arch = {90, '\0'});

/// A plain problem in FP16 with a head dimension of 64.
[[nodiscard]] Problem problem(std::int64_t seq_len, std::int64_t batch = 16, bool causal = false);

/// Configuration number `number` of family "f": its short form is "c<number>".
[[nodiscard]] Config config(int number, const std::string& family = "f");

/// A row with these configurations and times, best first.
[[nodiscard]] TunedProblem row(const Problem& problem,
                               const std::vector<std::pair<int, double>>& config_us,
                               const DeviceLimits& device = gpu());

/// The finished table of these rows, on GPUs that gpu() describes.
[[nodiscard]] TunedTable table(std::vector<TunedProblem> rows);

/// A rule by which everything is eligible.
[[nodiscard]] WhyNot anything_goes();

}  // namespace fatune::samples

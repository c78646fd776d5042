#include "app/emulated_problem.hpp"

#include "measure/cpu_reference.hpp"

namespace fatune {
namespace {

/// Random elements are alike wherever they stand: a tensor of many heads is a long head.
HeadInputs make_tensors(const Problem& problem, InitKind kind, std::uint64_t seed) {
  HeadProblem all;
  all.seq_len = problem.batch * problem.seq_len * problem.heads;
  all.d_head = problem.d_head;
  all.dtype = problem.dtype;
  return make_head_inputs(all, kind, seed);
}

EmulatedInput make_input(const Problem& problem, InitKind kind, std::uint64_t seed) {
  EmulatedInput input;
  input.name = init_kind_name(kind);
  input.tensors = make_tensors(problem, kind, seed);
  const auto values = [&](const std::vector<std::uint16_t>& elements) {
    return element_values(elements, problem.dtype);
  };
  const std::vector<double> q = values(input.tensors.q);
  const std::vector<double> k = values(input.tensors.k);
  const std::vector<double> v = values(input.tensors.v);
  input.exact = cpu_attention(problem, q, k, v);
  input.rounded = cpu_rounded_attention(problem, q, k, v);
  return input;
}

}  // namespace

const std::vector<EmulatedInput>& EmulatedProblems::inputs_of(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  std::vector<EmulatedInput>& inputs = inputs_[problem];
  if (inputs.empty()) {
    for (const InitKind kind : kEmulatedInputs) {
      inputs.push_back(make_input(problem, kind, seed_));
    }
  }
  return inputs;
}

}  // namespace fatune

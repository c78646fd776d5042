#include "verify/emulated_inputs.hpp"

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

EmulatedInput make_input(const EmulatedProblem& on, InitKind kind, std::uint64_t seed) {
  EmulatedInput input;
  input.name = init_kind_name(kind);
  input.tensors = make_tensors(on.problem, kind, seed);
  const auto values = [&](const std::vector<std::uint16_t>& elements) {
    return element_values(compared_elements(on, elements), on.problem.dtype);
  };
  const std::vector<double> q = values(input.tensors.q);
  const std::vector<double> k = values(input.tensors.k);
  const std::vector<double> v = values(input.tensors.v);
  const Problem part = compared_part(on);
  input.exact = cpu_attention(part, q, k, v);
  input.rounded = cpu_rounded_attention(part, q, k, v);
  return input;
}

}  // namespace

std::vector<std::uint16_t> compared_elements(const EmulatedProblem& of,
                                             const std::vector<std::uint16_t>& elements) {
  if (!of.only_head) {
    return elements;
  }
  const std::int64_t row = of.problem.d_head;
  std::vector<std::uint16_t> head;
  for (std::int64_t position = 0; position < of.problem.seq_len; ++position) {
    const auto first = elements.begin() + (position * of.problem.heads + *of.only_head) * row;
    head.insert(head.end(), first, first + row);
  }
  return head;
}

const std::vector<EmulatedInput>& EmulatedInputs::of(const EmulatedProblem& problem) {
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

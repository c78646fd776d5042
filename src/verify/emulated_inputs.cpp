#include "verify/emulated_inputs.hpp"

#include <algorithm>

#include "attention/cpu_reference.hpp"

namespace fatune {
namespace {

// From head to head, so that a run's next seed is no neighbour's.
constexpr std::uint64_t kSeedStride = 1'000'003;

/// Puts a head's elements where they stand in a tensor (batch, seq_len, heads, d_head).
/// `number`: batch * heads + head
void put_head(const Problem& problem, std::int64_t number, const std::vector<std::uint16_t>& head,
              std::vector<std::uint16_t>& tensor) {
  const std::int64_t first =
      number / problem.heads * problem.seq_len * problem.heads + number % problem.heads;
  for (std::int64_t position = 0; position < problem.seq_len; ++position) {
    const auto row = head.begin() + position * problem.d_head;
    std::copy(row, row + problem.d_head,
              tensor.begin() + (first + position * problem.heads) * problem.d_head);
  }
}

/// Each head has a seed of its own.
HeadInputs make_tensors(const Problem& problem, InitKind kind, std::uint64_t seed) {
  HeadProblem head;
  head.seq_len = problem.seq_len;
  head.d_head = problem.d_head;
  head.dtype = problem.dtype;
  const auto elements = static_cast<std::size_t>(tensor_elements(problem));
  HeadInputs all;
  for (auto* tensor : {&all.q, &all.k, &all.v}) {
    tensor->resize(elements);
  }
  for (std::int64_t number = 0; number < problem.batch * problem.heads; ++number) {
    const HeadInputs one =
        make_head_inputs(head, kind, seed + static_cast<std::uint64_t>(number) * kSeedStride);
    put_head(problem, number, one.q, all.q);
    put_head(problem, number, one.k, all.k);
    put_head(problem, number, one.v, all.v);
  }
  return all;
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

const HeadInputs& EmulatedInputs::random_tensors(const Problem& problem) {
  const std::lock_guard lock(mutex_);
  const auto [tensors, is_new] = tensors_.try_emplace(problem);
  if (is_new) {
    tensors->second = make_tensors(problem, kEmulatedInputs.front(), seed_);
  }
  return tensors->second;
}

}  // namespace fatune

#include "selection.hpp"

#include "argument_checks.hpp"
#include "choose.hpp"
#include "tensor_strides.hpp"
#include "tuned_range.hpp"

namespace fatune_attention {
namespace detail {
namespace {

Selection refused(const char* reason) {
  Selection selection;
  selection.reason = reason;
  return selection;
}

/// Asks about one configuration after another. `last` is the answer for the one that is taken.
struct Questions {
  const Request& request;
  Answer last = {};
  const char* first_refusal = "the library has no configurations";
  bool has_refused = false;

  bool operator()(int configuration) {
    last = ask(configuration, request);
    if (last.refusal != nullptr && !has_refused) {
      first_refusal = last.refusal;
      has_refused = true;
    }
    return last.refusal == nullptr;
  }
};

Selection selection_of(const Choice& choice, const Answer& answer, const Untuned& untuned) {
  Selection selection;
  selection.untuned = untuned;
  selection.step = choice.step;
  selection.configuration = choice.configuration;
  selection.kernel = answer.kernel;
  selection.row = choice.row;
  selection.config = kTable.configurations[choice.configuration].name;
  selection.workspace_bytes = answer.workspace_bytes;
  if (choice.row >= 0) {
    const RowConfig& tuned = kTable.rows[choice.row].configs[choice.place];
    selection.tuned_us = tuned.time_us;
    if (!untuned) {
      selection.regret_percent = tuned.regret_percent;
    }
  }
  return selection;
}

}  // namespace

Selection selection_for(const Problem& problem, const Request& request) {
  const TunedGpu gpu{request.device->name, request.device->arch, request.device->sm_count};
  Questions questions{request};
  const Wanted wanted{problem, request.facts.layout_bhsd != 0.0};
  const Choice choice =
      choose(kTable, wanted, gpu, [&](int configuration) { return questions(configuration); });
  return choice.configuration < 0
             ? refused(questions.first_refusal)
             : selection_of(choice, questions.last, untuned(kTable, wanted, gpu, choice.step));
}

}  // namespace detail

Selection select(const Problem& problem, const Device& device) {
  return select(problem, detail::usual_tensors(problem), device);
}

Selection select(const Problem& problem, const Tensors& tensors, const Device& device) {
  if (const char* fault = detail::fault_of(problem)) {
    return detail::refused(fault);
  }
  if (const char* fault = detail::fault_of_strides(problem, tensors)) {
    return detail::refused(fault);
  }
  return detail::selection_for(problem, detail::request_for(problem, tensors, device));
}

}  // namespace fatune_attention

#include "attention.hpp"

#include <algorithm>
#include <mutex>

#include "driver.hpp"
#include "facts.hpp"
#include "launch.hpp"
#include "selection.hpp"
#include "trials.hpp"

namespace fatune_attention {
namespace detail {
namespace {

/// A kernel that was chosen for the device of the current context.
struct Chosen {
  CurrentDevice on;
  Selection selection;
  MemoKey key;
  MemoKey trial_key;
  bool is_tried = false;  ///< others are tried, too, in the trial of `trial_key`
};

const Configuration& configuration_of(const Selection& selection) {
  return kTable.configurations[selection.configuration];
}

/// Finds what is selected among the trials, or begins one.
void select_by_trial(const Problem& problem, const Tensors& tensors, int candidates,
                     Chosen& chosen) {
  const Request request = request_for(problem, tensors, *chosen.on.facts);
  chosen.trial_key = trial_key(problem, tensors, request, chosen.on.ordinal, candidates);
  const std::lock_guard<std::mutex> lock(trials()->mutex);
  Trial* trial = trials()->find(chosen.trial_key);
  const bool goes_on = trial != nullptr && (trial->problem == chosen.key ||
                                            trial->change_to(chosen.key, problem, request));
  if (!goes_on) {
    const Selections found = selections_for(problem, request, candidates);
    if (found.count == 1) {
      chosen.selection = found.items[0];
      return;
    }
    trial = &trials()->place_for(chosen.trial_key);
    begin(*trial, chosen.trial_key, chosen.key, found);
  }
  chosen.selection = trial->leading();
  chosen.is_tried = !trial->has_ended;
}

void select_or_remember(const Problem& problem, const Tensors& tensors, int candidates,
                        Chosen& chosen) {
  if (const Selection* known = selection_memo().find(chosen.key)) {
    chosen.selection = *known;
    return;
  }
  if (candidates > 1 && trials() != nullptr) {
    select_by_trial(problem, tensors, candidates, chosen);
  } else {
    chosen.selection =
        selections_for(problem, request_for(problem, tensors, *chosen.on.facts), 1).items[0];
  }
  if (!chosen.is_tried) {
    selection_memo().add(chosen.key, chosen.selection);
  }
}

/// Chooses a kernel for valid arguments. Fails if there is none.
Result choose_here(const Problem& problem, const Tensors& tensors, int candidates, Chosen& chosen) {
  if (const Result found = find_current_device(chosen.on); !found) {
    return found;
  }
  const int most = std::clamp(candidates, 1, Selections::kMost);
  chosen.key = memo_key(problem, tensors, chosen.on.ordinal, most);
  select_or_remember(problem, tensors, most, chosen);
  return chosen.selection.kernel >= 0 ? Result{}
                                      : Result{Status::unsupported, chosen.selection.reason};
}

Result check(const Workspace& workspace, std::size_t bytes) {
  const bool is_aligned =
      reinterpret_cast<std::uint64_t>(workspace.data) % WorkspaceLayout::kAlignment == 0;
  if (bytes == 0) {
    return {};
  }
  if (workspace.data == nullptr || workspace.bytes < bytes) {
    return {Status::workspace_too_small, "the workspace is smaller than workspace_bytes()"};
  }
  return is_aligned ? Result{}
                    : Result{Status::workspace_too_small, "the workspace is not 256-byte aligned"};
}

Addresses addresses_of(const Tensors& tensors, const Workspace& workspace) {
  const auto address = [](const void* data) { return reinterpret_cast<std::uint64_t>(data); };
  return {{address(tensors.q.data), address(tensors.k.data), address(tensors.v.data),
           address(tensors.o.data), address(tensors.lse), address(tensors.seq_lens_kv),
           address(tensors.sinks), address(tensors.page_table), address(tensors.cu_seqlens_q),
           address(tensors.cu_seqlens_kv), address(tensors.k_scales), address(tensors.v_scales)},
          address(workspace.data)};
}

/// Precondition: the workspace has passed check().
Result run(const Problem& problem, const Tensors& tensors, const Workspace& workspace, void* stream,
           const CurrentDevice& on, const Selection& selection) {
  LaunchBuilder builder(addresses_of(tensors, workspace), &encode_by_driver);
  configuration_of(selection).launch(facts_of(problem, tensors, *on.facts), builder);
  if (!builder.ok()) {
    return {Status::unsupported, builder.failure()};
  }
  void* kernel = nullptr;
  const Result found = prepare_kernel(selection.kernel, on, builder.shape(), kernel);
  return found ? launch(kernel, builder, workspace, stream) : found;
}

/// Runs the next candidate of a trial and takes its time, if there is one to try; else the one that
/// leads. A candidate that fails ends the trial. `run(selection)` is run() for this call.
template <typename Run>
Result run_and_try(const Chosen& chosen, void* stream, Run run) {
  const std::lock_guard<std::mutex> lock(trials()->mutex);
  Trial* const trial = is_capturing(stream) ? nullptr : trials()->find(chosen.trial_key);
  if (trial == nullptr || trial->problem != chosen.key) {  // another thread's problem
    return run(chosen.selection);
  }
  const int candidate = next_candidate(*trial);
  if (candidate < 0) {
    return run(trial->leading());
  }
  const bool has_begun = trial->events.begin(candidate, stream);
  const Result result = run(trial->selections.items[static_cast<std::size_t>(candidate)]);
  if (result && has_begun && trial->events.end(candidate, stream)) {
    trial->rounds.launched();
    return result;
  }
  end(*trial);
  return result ? result : run(trial->leading());
}

/// Loads the kernel for launches of this problem.
Result load(const Problem& problem, const Tensors& tensors, const Chosen& chosen) {
  LaunchBuilder builder;
  configuration_of(chosen.selection).launch(facts_of(problem, tensors, *chosen.on.facts), builder);
  void* kernel = nullptr;
  const Result found = prepare_kernel(chosen.selection.kernel, chosen.on, builder.shape(), kernel);
  return found ? load_code(kernel) : found;
}

/// As choose_here(), for arguments that may be wrong. Checks the problem and the strides:
/// everything that a selection depends on.
Result choose_checked(const Problem& problem, const Tensors& tensors, int candidates,
                      Chosen& chosen) {
  const char* const fault = fault_of_shape(problem, tensors);
  return fault == nullptr ? choose_here(problem, tensors, candidates, chosen)
                          : Result{Status::invalid_argument, fault};
}

}  // namespace
}  // namespace detail

Result current_device(Device& device) {
  detail::CurrentDevice current;
  const Result found = detail::find_current_device(current);
  if (found) {
    device = *current.facts;
  }
  return found;
}

Result attention_forward(const Problem& problem, const Tensors& tensors, const Workspace& workspace,
                         void* stream, int candidates) {
  if (const char* fault = detail::fault_of(problem, tensors)) {
    return {Status::invalid_argument, fault};
  }
  detail::Chosen chosen;
  if (const Result is_there = detail::choose_here(problem, tensors, candidates, chosen);
      !is_there) {
    return is_there;
  }
  if (const Result enough = detail::check(workspace, chosen.selection.workspace_bytes); !enough) {
    return enough;
  }
  const auto run = [&](const Selection& selection) {
    return detail::run(problem, tensors, workspace, stream, chosen.on, selection);
  };
  return chosen.is_tried ? detail::run_and_try(chosen, stream, run) : run(chosen.selection);
}

Result select_here(const Problem& problem, const Tensors& tensors, Selection& selection,
                   int candidates) {
  detail::Chosen chosen;
  const Result is_there = detail::choose_checked(problem, tensors, candidates, chosen);
  selection = chosen.selection;
  return is_there;
}

std::size_t workspace_bytes(const Problem& problem, const Tensors& tensors, int candidates) {
  Selection selection;
  return select_here(problem, tensors, selection, candidates) ? selection.workspace_bytes : 0;
}

Result load(const Problem& problem, const Tensors& tensors) {
  detail::Chosen chosen;
  const Result is_there = detail::choose_checked(problem, tensors, 1, chosen);
  return is_there ? detail::load(problem, tensors, chosen) : is_there;
}

Contents contents() {
  return {detail::kTable.kernels.count, detail::kTable.configurations.count,
          detail::kTable.rows.count};
}

const char* status_name(Status status) {
  constexpr const char* kNames[] = {
      "ok",        "invalid argument", "unsupported", "workspace too small",
      "no driver", "no context",       "driver error"};
  return kNames[static_cast<int>(status)];
}

}  // namespace fatune_attention

#include "attention.hpp"

#include "driver.hpp"
#include "facts.hpp"
#include "launch.hpp"
#include "selection.hpp"

namespace fatune_attention {
namespace detail {
namespace {

/// A kernel that was chosen for the device of the current context.
struct Chosen {
  CurrentDevice on;
  Selection selection;

  const Configuration& configuration() const {
    return kTable.configurations[selection.configuration];
  }
};

Selection remembered_selection(const Problem& problem, const Tensors& tensors,
                               const CurrentDevice& on) {
  const MemoKey key = memo_key(problem, tensors, on.ordinal);
  if (const Selection* known = selection_memo().find(key)) {
    return *known;
  }
  return selection_memo().add(key,
                              selection_for(problem, request_for(problem, tensors, *on.facts)));
}

/// Chooses a kernel for valid arguments. Fails if there is none.
Result choose_here(const Problem& problem, const Tensors& tensors, Chosen& chosen) {
  if (const Result found = find_current_device(chosen.on); !found) {
    return found;
  }
  chosen.selection = remembered_selection(problem, tensors, chosen.on);
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
           address(tensors.cu_seqlens_kv)},
          address(workspace.data)};
}

/// Precondition: the workspace has passed check().
Result run(const Problem& problem, const Tensors& tensors, const Workspace& workspace, void* stream,
           const Chosen& chosen) {
  LaunchBuilder builder(addresses_of(tensors, workspace), &encode_by_driver);
  chosen.configuration().launch(facts_of(problem, tensors, *chosen.on.facts), builder);
  if (!builder.ok()) {
    return {Status::unsupported, builder.failure()};
  }
  void* kernel = nullptr;
  const Result found = prepare_kernel(chosen.selection.kernel, chosen.on, builder.shape(), kernel);
  return found ? launch(kernel, builder, workspace, stream) : found;
}

/// Loads the kernel for launches of this problem.
Result load(const Problem& problem, const Tensors& tensors, const Chosen& chosen) {
  LaunchBuilder builder;
  chosen.configuration().launch(facts_of(problem, tensors, *chosen.on.facts), builder);
  void* kernel = nullptr;
  const Result found = prepare_kernel(chosen.selection.kernel, chosen.on, builder.shape(), kernel);
  return found ? load_code(kernel) : found;
}

/// As choose_here(), for arguments that may be wrong. Checks the problem and the strides:
/// everything that a selection depends on.
Result choose_checked(const Problem& problem, const Tensors& tensors, Chosen& chosen) {
  const char* const fault = fault_of_shape(problem, tensors);
  return fault == nullptr ? choose_here(problem, tensors, chosen)
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
                         void* stream) {
  if (const char* fault = detail::fault_of(problem, tensors)) {
    return {Status::invalid_argument, fault};
  }
  detail::Chosen chosen;
  if (const Result is_there = detail::choose_here(problem, tensors, chosen); !is_there) {
    return is_there;
  }
  const Result enough = detail::check(workspace, chosen.selection.workspace_bytes);
  return enough ? detail::run(problem, tensors, workspace, stream, chosen) : enough;
}

Result select_here(const Problem& problem, const Tensors& tensors, Selection& selection) {
  detail::Chosen chosen;
  const Result is_there = detail::choose_checked(problem, tensors, chosen);
  selection = chosen.selection;
  return is_there;
}

std::size_t workspace_bytes(const Problem& problem, const Tensors& tensors) {
  Selection selection;
  return select_here(problem, tensors, selection) ? selection.workspace_bytes : 0;
}

Result load(const Problem& problem, const Tensors& tensors) {
  detail::Chosen chosen;
  const Result is_there = detail::choose_checked(problem, tensors, chosen);
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

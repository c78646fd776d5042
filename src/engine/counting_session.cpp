#include "engine/counting_session.hpp"

#include "measure/memory_plan.hpp"
#include "measure/worker_settings.hpp"

namespace fatune {
namespace {

/// Turns the device gate off. A profiler serialises launches, so a host that waits for the gate
/// would wait forever.
MeasurePolicy counting_policy(MeasurePolicy policy) {
  policy.device_gate = false;
  return policy;
}

}  // namespace

CountingSession::CountingSession(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(worker_settings(setup.device_ordinal, setup.launcher),
                counting_policy(setup.policy)) {
  const Problem& problem = setup.problems.front();
  check_fits(problem, measurer_.policy(), measurer_.limits());
  measurer_.begin_problem(problem, kernels_.of(problem));
}

Counted CountingSession::count(const CandidateKernel& kernel, const CountRequest& request) {
  const CandidateId id{next_.index++};
  if (Admission admission = measurer_.admit(id, kernel); admission.failure) {
    return {{}, std::move(admission.failure)};
  }
  Counted counted = measurer_.count(id, request);
  measurer_.retire(id);
  return counted;
}

}  // namespace fatune

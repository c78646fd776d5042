#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/attention_args.h"
#include "measure/measurer.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "unit/measure/host_kernels.hpp"

namespace fatune {

inline const Problem kHostProblem{1, 20, 2, 64, DType::fp16, false};

/// The fake driver (tests/fake_cuda), on which measurement kernels really run, on the host, and
/// candidates do what a test says. Only one may be attached at a time.
class HostGpu {
 public:
  using Behaviour = std::function<void(const AttentionForwardArgs& args)>;

  HostGpu(const HostKernels& kernels, const Problem& problem);
  HostGpu(const HostGpu&) = delete;
  HostGpu& operator=(const HostGpu&) = delete;
  HostGpu(HostGpu&&) = delete;
  HostGpu& operator=(HostGpu&&) = delete;
  ~HostGpu();

  /// Takes over the fake driver's launches (FakeDriver::reset() ends that).
  void attach();

  /// The effect of a launch of the candidate. By default it computes attention, rounded once.
  Behaviour candidate = [this](const AttentionForwardArgs& args) { compute_attention(args); };
  /// The effect of a launch of the gate. By default it does nothing: the host sets its flag later.
  std::function<void(const GateArgs& args)> gate = [](const GateArgs&) {};
  ClockSpan clock_span{};  ///< the span of the SM's clocks for each sample
  /// Names of the kernels in the order of their launches.
  std::vector<std::string> launched;
  /// Grids of the candidate's launches.
  std::vector<std::array<unsigned, 3>> candidate_grids;

  void compute_attention(const AttentionForwardArgs& args) const;
  /// The reference for the current inputs. shape: (batch, heads, seq_len)
  [[nodiscard]] std::vector<double> log_sum_exps(const AttentionForwardArgs& args) const;
  [[nodiscard]] long count(const std::string& kernel) const;

  [[nodiscard]] static DeviceLimits limits();
  /// The kernels' names without their code, which runs on the host.
  [[nodiscard]] static const Artifact& measurement_kernels();
  /// The artifact of matmul_request().
  static const Artifact& matmul_kernel();
  /// A candidate with the arguments for this problem.
  [[nodiscard]] static CandidateKernel make_candidate(const Problem& problem = kHostProblem);

 private:
  [[nodiscard]] Problem problem_of(const AttentionForwardArgs& args) const;
  static void on_launch(const char* kernel, void** arguments);
  void run(const std::string& kernel, void** arguments);

  static HostGpu* active;
  const HostKernels& kernels_;
  Problem problem_;
};

}  // namespace fatune

#include "unit/measure/host_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <utility>

#include "measure/tensors.hpp"
#include "model/cpu_reference.hpp"
#include "model/problem.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/kernel_sources.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

template <typename T>
const T& argument(void** arguments, int index) {
  return *static_cast<const T*>(arguments[index]);
}

// Machine code with empty kernels of these names. The fake driver looks only at the names.
Artifact empty_kernels(std::initializer_list<const char*> names) {
  std::string source;
  for (const char* name : names) {
    source += fmt::format("extern \"C\" __global__ void {}() {{}}\n", name);
  }
  CompileRequest request;
  request.label = "empty kernels";
  request.sources =
      std::make_shared<const SourceBundle>(SourceBundle{{"empty.cu", std::move(source)}, {}});
  request.entry_point = *names.begin();
  request.arch = {90, '\0'};
  return compile_or_throw(request);
}

std::vector<double> values_of(const void* tensor, std::size_t elements, DType dtype) {
  const auto* bits = static_cast<const std::uint16_t*>(tensor);
  std::vector<double> values(elements);
  std::transform(bits, bits + elements, values.begin(),
                 [dtype](std::uint16_t element) { return element_value(element, dtype); });
  return values;
}

}  // namespace

HostGpu* HostGpu::active = nullptr;

HostGpu::HostGpu(const HostKernels& kernels, const Problem& problem)
    : kernels_(kernels), problem_(problem) {}

void HostGpu::attach() {
  active = this;
  gpu::FakeDriver::on_launch(on_launch);
}

HostGpu::~HostGpu() { active = nullptr; }

Problem HostGpu::problem_of(const AttentionForwardArgs& args) const {
  Problem problem = problem_;
  problem.batch = args.batch;
  problem.heads = problem.kv_heads = args.heads;
  return problem;
}

std::vector<double> HostGpu::log_sum_exps(const AttentionForwardArgs& args) const {
  const Problem problem = problem_of(args);
  const auto elements = static_cast<std::size_t>(tensor_elements(problem, TensorRole::q));
  return cpu_log_sum_exp(problem, values_of(args.q, elements, problem.dtype),
                         values_of(args.k, elements, problem.dtype));
}

void HostGpu::compute_attention(const AttentionForwardArgs& args) const {
  const Problem problem = problem_of(args);
  const auto elements = static_cast<std::size_t>(tensor_elements(problem, TensorRole::q));
  const std::vector<double> out = cpu_attention(
      problem, values_of(args.q, elements, problem_.dtype),
      values_of(args.k, elements, problem_.dtype), values_of(args.v, elements, problem_.dtype));
  std::transform(out.begin(), out.end(), static_cast<std::uint16_t*>(args.o),
                 [this](double value) { return round_to_element(value, problem_.dtype); });
}

long HostGpu::count(const std::string& kernel) const {
  return std::count(launched.begin(), launched.end(), kernel);
}

DeviceLimits HostGpu::limits() {
  DeviceLimits device;
  device.name = "host";
  device.arch = {90, '\0'};
  device.max_threads_per_block = 1024;
  device.smem_per_block_optin_bytes = 232448;
  device.l2_bytes = 4096;
  return device;
}

const Artifact& HostGpu::measurement_kernels() {
  static const Artifact artifact = empty_kernels(
      {"fatune_fill_inputs", "fatune_reference_attention", "fatune_compare_output",
       "fatune_count_rows", "fatune_scan_output", "fatune_check_guards", "fatune_sum_inputs",
       "fatune_row_statistics", "fatune_greatest_norms", "fatune_check_row_values",
       "fatune_read_memory", "fatune_device_gate", "fatune_clock_span"});
  return artifact;
}

const Artifact& HostGpu::matmul_kernel() {
  static const Artifact artifact = empty_kernels({"fatune_matmul_rate", "fatune_read_memory"});
  return artifact;
}

CandidateKernel HostGpu::make_candidate(const Problem& problem) {
  static const auto artifact = std::make_shared<const Artifact>(empty_kernels({"candidate"}));
  CandidateKernel candidate{"candidate", artifact, {}, {}};
  candidate.geometry.arguments = attention_forward_arguments(problem);
  candidate.probe_geometry.arguments = attention_forward_arguments(probe_problem(problem));
  return candidate;
}

void HostGpu::on_launch(const char* kernel, void** arguments) {
  if (active != nullptr) {
    active->run(kernel, arguments);
  }
}

void HostGpu::run(const std::string& kernel, void** arguments) {
  launched.push_back(kernel);
  if (kernel == "candidate") {
    const unsigned* const grid = gpu::FakeDriver::grid();
    candidate_grids.push_back({grid[0], grid[1], grid[2]});
    candidate(argument<AttentionForwardArgs>(arguments, 0));
  } else if (kernel == "fatune_device_gate") {
    gate(argument<GateArgs>(arguments, 0));
  } else if (kernel == "fatune_clock_span") {
    *argument<ClockSpanArgs>(arguments, 0).span = clock_span;
  } else if (kernel == "fatune_fill_inputs") {
    kernels_.fill_inputs(argument<FillInputsArgs>(arguments, 0));
  } else if (kernel == "fatune_reference_attention") {
    kernels_.reference_attention(argument<ReferenceArgs>(arguments, 0));
  } else if (kernel == "fatune_compare_output") {
    kernels_.compare_output(argument<CompareArgs>(arguments, 0));
  } else if (kernel == "fatune_count_rows") {
    kernels_.count_rows(argument<CountRowsArgs>(arguments, 0));
  } else if (kernel == "fatune_scan_output") {
    kernels_.scan_output(argument<const void*>(arguments, 0),
                         argument<unsigned long long>(arguments, 1),
                         argument<CheckCounts*>(arguments, 2));
  } else if (kernel == "fatune_check_guards") {
    kernels_.check_guards(argument<GuardArgs>(arguments, 0), Tensors::kGuardBands,
                          argument<CheckCounts*>(arguments, 1));
  } else if (kernel == "fatune_sum_inputs") {
    kernels_.sum_inputs(argument<InputSumArgs>(arguments, 0));
  } else if (kernel == "fatune_row_statistics") {
    kernels_.row_statistics(argument<RowStatisticsArgs>(arguments, 0));
  } else if (kernel == "fatune_greatest_norms") {
    kernels_.greatest_norms(argument<NormArgs>(arguments, 0));
  } else if (kernel == "fatune_check_row_values") {
    kernels_.check_row_values(argument<RowValueArgs>(arguments, 0));
  } else if (kernel == "fatune_read_memory") {
    kernels_.read_memory(argument<ReadMemoryArgs>(arguments, 0));
  } else {
    throw std::logic_error("no such kernel on the host: " + kernel);
  }
}

}  // namespace fatune

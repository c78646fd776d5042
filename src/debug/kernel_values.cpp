#include "debug/kernel_values.hpp"

#include <algorithm>
#include <stdexcept>

#include "attention/cpu_reference.hpp"

namespace fatune {
namespace {

void fill(std::vector<double>& values, std::span<const float>& dump) {
  if (dump.size() < values.size()) {
    throw std::logic_error("intermediates of another head");
  }
  std::copy_n(dump.begin(), values.size(), values.begin());
  dump = dump.subspan(values.size());
}

}  // namespace

KernelValues read_kernel_values(const HeadProblem& head, std::span<const std::uint16_t> output,
                                std::span<const float> dump) {
  KernelValues kernel{empty_values(head), !dump.empty()};
  if (kernel.has_steps) {
    for (const StepTensor tensor :
         {StepTensor::s, StepTensor::p, StepTensor::m, StepTensor::l, StepTensor::o}) {
      fill(kernel.values.of(tensor), dump);
    }
  }
  std::transform(output.begin(), output.end(), kernel.values.output.begin(),
                 [&](std::uint16_t bits) { return element_value(bits, head.dtype); });
  return kernel;
}

}  // namespace fatune

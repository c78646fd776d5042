#include "conformance/emulated_kernels.hpp"

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "conformance/kernel_text.hpp"
#include "conformance/results.hpp"
#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune::conformance {
namespace {

std::uint64_t place(emulate::GlobalMemory& memory, const char* name,
                    std::vector<std::uint8_t> bytes) {
  emulate::Allocation allocation;
  allocation.name = name;
  allocation.bytes = std::move(bytes);
  return memory.allocate(std::move(allocation));
}

}  // namespace

EmulatedKernels::EmulatedKernels(std::vector<Case> cases)
    : cases_(std::move(cases)), module_(parse_ptx(kernels_text(cases_), "conformance.ptx")) {}

std::vector<std::uint64_t> EmulatedKernels::run(std::size_t index,
                                                const std::vector<std::uint64_t>& operands,
                                                std::size_t tuples) const {
  const Case& one = cases_.at(index);
  const emulate::Program program =
      emulate::decode_program(module_, kernel_name(index), "conformance.ptx");
  emulate::GlobalMemory memory;
  const std::array<std::uint64_t, 2> addresses{
      place(memory, "in", input_bytes(operands)),
      place(memory, "out", std::vector<std::uint8_t>(tuples * output_stride(one)))};
  std::array<std::uint8_t, sizeof(addresses)> parameters{};
  std::memcpy(parameters.data(), addresses.data(), sizeof(addresses));
  emulate::LaunchSetup setup;
  setup.grid = {static_cast<std::uint32_t>(tuples / kThreadsPerBlock), 1, 1};
  setup.block = {kThreadsPerBlock, 1, 1};
  setup.parameters = parameters;
  const emulate::LaunchResult done = emulate::run_kernel(program, memory, setup);
  if (!done.findings.empty()) {
    throw std::runtime_error(one.text + ": " + done.findings.all().front().text);
  }
  return results_of(one, memory.at(addresses[1]).bytes);
}

}  // namespace fatune::conformance

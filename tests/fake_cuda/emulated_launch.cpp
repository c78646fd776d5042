#include "fake_cuda/emulated_launch.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <mutex>

#include "emulator/launch.hpp"
#include "fake_cuda/state.hpp"

namespace fake_cuda {
namespace {

namespace emulate = fatune::emulate;

constexpr std::uint64_t kMostWarpInstructions = std::uint64_t{1} << 26;  // per block

std::vector<std::uint8_t> pack(const EmulatedKernel& kernel, void** arguments) {
  std::vector<std::uint8_t> bytes(kernel.program.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& at = kernel.parameters[i];
    std::memcpy(bytes.data() + at.offset, arguments[i], at.bytes);
  }
  return bytes;
}

/// The part of device memory that a launch can reach: the buffers that its parameters point into.
class ReachableMemory {
 public:
  explicit ReachableMemory(const std::vector<std::uint8_t>& parameters) {
    const std::lock_guard lock(state().mutex);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= parameters.size();
         at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, parameters.data() + at, sizeof word);
      copy_buffer_at(word);
    }
  }

  [[nodiscard]] emulate::GlobalMemory& memory() { return memory_; }

  /// The bytes of all buffers, in the order in which they were found.
  [[nodiscard]] Contents contents() const {
    Contents contents;
    for (const std::uint64_t address : copied_) {
      contents.push_back(memory_.at(address).bytes);
    }
    return contents;
  }

  /// Writes the contents of all buffers to the device.
  void publish(const Contents& contents) const {
    for (std::size_t i = 0; i < copied_.size(); ++i) {
      std::memcpy(reinterpret_cast<void*>(copied_[i]), contents[i].data(), contents[i].size());
    }
  }

 private:
  void copy_buffer_at(std::uint64_t address) {
    const auto& buffers = state().device_memory;
    const auto after = buffers.upper_bound(reinterpret_cast<void*>(address));
    if (after == buffers.begin()) {
      return;
    }
    const auto& [begin, bytes] = *std::prev(after);
    const auto first = reinterpret_cast<std::uint64_t>(begin);
    if (address - first >= bytes || memory_.find(first, 1) != nullptr) {
      return;
    }
    const auto* const from = static_cast<const std::uint8_t*>(begin);
    emulate::Allocation allocation;
    allocation.address = first;
    allocation.bytes.assign(from, from + bytes);
    memory_.place(std::move(allocation));
    copied_.push_back(first);
  }

  emulate::GlobalMemory memory_;
  std::vector<std::uint64_t> copied_;
};

/// The values of the module's variables before the launch.
emulate::ModuleState variables_of(const FakeModule& module, const emulate::Program& program) {
  emulate::ModuleState values = loaded_state(program);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const auto left = module.variables.find(program.variables[i].name);
        left != module.variables.end()) {
      values[i] = left->second;
    }
  }
  return values;
}

void keep_variables(const emulate::Program& program, const emulate::ModuleState& values,
                    FakeModule& module) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    module.variables[program.variables[i].name] = values[i];
  }
}

/// The error that hardware would report. It does not detect races and reads of uninitialised
/// memory.
CUresult error_of(const emulate::LaunchResult& result) {
  using emulate::FindingKind;
  for (const emulate::Finding& finding : result.findings.all()) {
    switch (finding.kind) {
      case FindingKind::out_of_bounds:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
      case FindingKind::misaligned:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
      case FindingKind::assertion:
        return CUDA_ERROR_ASSERT;
      case FindingKind::deadlock:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
      default:
        break;
    }
  }
  return result.finished ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

Effect emulate_launch(const Launch& launch, const Cause& cause, ReachableMemory& reachable) {
  emulate::GlobalMemory& memory = reachable.memory();
  const emulate::Program& program = launch.function->emulated().program;
  emulate::LaunchSetup setup;
  setup.grid = launch.grid;
  setup.block = launch.block;
  setup.cluster = program.cluster.value_or(launch.cluster);
  setup.dynamic_smem_bytes = launch.smem_bytes;
  setup.parameters = cause.parameters;
  setup.checks = {false, false, false};
  setup.most_warp_instructions = kMostWarpInstructions;
  put_state(program, cause.variables, memory);
  const emulate::LaunchResult result = run_kernel(program, memory, setup);
  return {reachable.contents(), state_in(program, memory), error_of(result)};
}

CUresult carry_out(const Launch& launch, void** arguments) {
  FakeFunction& function = *launch.function;
  const EmulatedKernel& kernel = function.emulated();
  Cause cause{{launch.grid, launch.block, launch.cluster},
              launch.smem_bytes,
              pack(kernel, arguments),
              {},
              variables_of(*function.module, kernel.program)};
  ReachableMemory reachable(cause.parameters);
  cause.memory = reachable.contents();
  const Effect* effect = function.effects.find(cause);
  if (effect == nullptr) {
    effect = &function.effects.add(cause, emulate_launch(launch, cause, reachable));
  }
  reachable.publish(effect->memory);
  keep_variables(kernel.program, effect->variables, *function.module);
  return effect->error;
}

}  // namespace

CUresult run_emulated(const Launch& launch, void** arguments) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  try {
    return carry_out(launch, arguments);
  } catch (const std::exception& error) {
    state().why_not_run = launch.function->name + " cannot be run on the fake: " + error.what();
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace fake_cuda

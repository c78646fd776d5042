#include "verify/emulated_launch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>

#include "common/attention_dump.h"

namespace fatune {
namespace {

// A NaN in both element types.
constexpr std::uint16_t kPoison = 0x7fa5;
// Of a block. The toy family's, which is no fast one, takes some millions at the longest sequence
// that can be asked for.
constexpr std::uint64_t kMostWarpInstructions = std::uint64_t{1} << 24;

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint16_t>& elements) {
  std::vector<std::uint8_t> bytes(elements.size() * sizeof(std::uint16_t));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

emulate::Allocation tensor(const char* name, const Problem& problem,
                           const std::vector<std::uint16_t>& elements) {
  emulate::Allocation allocation;
  allocation.name = name;
  allocation.bytes = bytes_of(elements);
  allocation.shape = {problem.batch, problem.seq_len, problem.heads, problem.d_head};
  allocation.element_bytes = element_bytes(problem.dtype);
  return allocation;
}

std::array<std::uint32_t, 3> extents(const std::array<std::int64_t, 3>& of) {
  return {static_cast<std::uint32_t>(of[0]), static_cast<std::uint32_t>(of[1]),
          static_cast<std::uint32_t>(of[2])};
}

void* device_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <typename Args>
std::vector<std::uint8_t> bytes_of_args(const Args& args) {
  std::vector<std::uint8_t> bytes(sizeof(args));
  std::memcpy(bytes.data(), &args, sizeof(args));
  return bytes;
}

emulate::Allocation empty_dump(const DumpExtents& extents, std::int64_t d_head) {
  emulate::Allocation allocation;
  allocation.name = "dump";
  allocation.bytes = bytes_of(
      std::vector<std::uint16_t>(static_cast<std::size_t>(extents.values(d_head)) * 2, kPoison));
  return allocation;
}

/// Q, K, V and O of one run, and the intermediates, as a kernel's argument names them.
class EmulatedTensors {
 public:
  EmulatedTensors(const Problem& problem, const HeadInputs& inputs,
                  const std::optional<DumpExtents>& dump)
      : problem_(problem),
        inputs_(inputs),
        q_(memory_.allocate(tensor("Q", problem, inputs.q))),
        k_(memory_.allocate(tensor("K", problem, inputs.k))),
        v_(memory_.allocate(tensor("V", problem, inputs.v))),
        o_(memory_.allocate(
            tensor("O", problem, std::vector<std::uint16_t>(inputs.q.size(), kPoison)),
            emulate::GlobalMemory::Content::undefined)),
        extents_(dump) {
    if (dump) {
      dump_ = memory_.allocate(empty_dump(*dump, problem.d_head),
                               emulate::GlobalMemory::Content::undefined);
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> parameters() const {
    if (!extents_) {
      return bytes_of_args(attention_args());
    }
    auto* const start = static_cast<float*>(device_pointer(dump_));
    return bytes_of_args(AttentionForwardDumpArgs{attention_args(), dump_layout(start, *extents_)});
  }

  [[nodiscard]] std::vector<std::uint16_t> output() const { return elements_at<std::uint16_t>(o_); }
  [[nodiscard]] std::vector<float> dump() const {
    return extents_ ? elements_at<float>(dump_) : std::vector<float>{};
  }

  [[nodiscard]] bool inputs_changed() const {
    return memory_.at(q_).bytes != bytes_of(inputs_.q) ||
           memory_.at(k_).bytes != bytes_of(inputs_.k) ||
           memory_.at(v_).bytes != bytes_of(inputs_.v);
  }

  emulate::GlobalMemory& memory() { return memory_; }

 private:
  [[nodiscard]] AttentionForwardArgs attention_args() const {
    AttentionForwardArgs args{};
    args.q = device_pointer(q_);
    args.k = device_pointer(k_);
    args.v = device_pointer(v_);
    args.o = device_pointer(o_);
    args.batch = static_cast<int>(problem_.batch);
    args.seq_len = static_cast<int>(problem_.seq_len);
    args.heads = static_cast<int>(problem_.heads);
    args.softmax_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem_.d_head)));
    return args;
  }

  template <typename Element>
  [[nodiscard]] std::vector<Element> elements_at(std::uint64_t address) const {
    const std::vector<std::uint8_t>& bytes = memory_.at(address).bytes;
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  const Problem& problem_;
  const HeadInputs& inputs_;
  emulate::GlobalMemory memory_;
  std::uint64_t q_, k_, v_, o_;
  std::optional<DumpExtents> extents_;
  std::uint64_t dump_ = 0;
};

/// Of a row of elements, whether any was written.
bool is_written(std::span<const std::uint16_t> row) {
  return std::any_of(row.begin(), row.end(),
                     [](std::uint16_t element) { return element != kPoison; });
}

/// Whether the blocks of one head wrote into each of its rows and into no other head's.
bool wrote_that_head(const EmulatedProblem& on, std::span<const std::uint16_t> output) {
  const auto row = static_cast<std::size_t>(on.problem.d_head);
  std::int64_t head = 0;
  for (std::size_t first = 0; first < output.size(); first += row) {
    if (is_written(output.subspan(first, row)) != (head == *on.only_head)) {
      return false;
    }
    head = (head + 1) % on.problem.heads;
  }
  return true;
}

void choose_blocks(const EmulatedLaunch& launch, emulate::LaunchSetup& setup) {
  if (launch.on.only_head) {
    setup.chosen = [&launch](std::uint32_t block) {
      return launch.blocks.contains(block, launch.geometry);
    };
  }
}

}  // namespace

std::size_t parameter_bytes(const std::optional<DumpExtents>& dump) {
  return dump ? sizeof(AttentionForwardDumpArgs) : sizeof(AttentionForwardArgs);
}

EmulatedOutput run_naming_ends(const emulate::Program& program, const EmulatedLaunch& launch,
                               const HeadInputs& inputs, EmulatedRun& run) {
  EmulatedOutput output = run_emulated(program, launch, inputs, run);
  const auto& findings = output.result.findings.all();
  const bool has_race = std::any_of(
      findings.begin(), findings.end(),
      [](const emulate::Finding& finding) { return emulate::has_two_ends(finding.kind); });
  if (run.checks.both_ends || !has_race) {
    return output;
  }
  run.checks.both_ends = true;
  return run_emulated(program, launch, inputs, run);
}

EmulatedOutput run_emulated(const emulate::Program& program, const EmulatedLaunch& launch,
                            const HeadInputs& inputs, const EmulatedRun& run) {
  EmulatedTensors tensors(launch.on.problem, inputs, run.dump);
  const std::vector<std::uint8_t> parameters = tensors.parameters();
  emulate::LaunchSetup setup;
  setup.grid = extents(launch.geometry.grid);
  setup.block = extents(launch.geometry.block);
  setup.dynamic_smem_bytes = static_cast<std::uint32_t>(launch.geometry.dynamic_smem_bytes);
  setup.parameters = parameters;
  setup.schedule = run.schedule;
  setup.checks = run.checks;
  setup.most_warp_instructions = kMostWarpInstructions;
  setup.stopped = run.stopped;
  setup.name_shared = [&launch](std::uint32_t offset) {
    return name_byte(launch.shared_tensors, offset);
  };
  choose_blocks(launch, setup);
  EmulatedOutput output;
  output.result = run_kernel(program, tensors.memory(), setup);
  const std::vector<std::uint16_t> whole = tensors.output();
  output.output = compared_elements(launch.on, whole);
  output.blocks_fit = !launch.on.only_head || wrote_that_head(launch.on, whole);
  output.inputs_changed = tensors.inputs_changed();
  output.dump = tensors.dump();
  return output;
}

}  // namespace fatune

#include "proof/emulated_launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "model/kernel_code.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "proof/findings.hpp"

namespace fatune {
namespace {

// A NaN in both element types.
constexpr std::uint16_t kPoison = 0x7fa5;
// The most warp instructions of a block. The slow toy family takes some millions for the longest
// sequence that can be requested.
constexpr std::uint64_t kMostWarpInstructions = std::uint64_t{1} << 24;

template <typename Element>
std::vector<std::uint8_t> bytes_of(const std::vector<Element>& elements) {
  std::vector<std::uint8_t> bytes(elements.size() * sizeof(Element));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// The memory of a tensor whose elements have this type, one in each word.
std::vector<std::uint8_t> bytes_of(const std::vector<std::uint16_t>& elements, DType dtype) {
  return has_eight_bits(dtype) ? std::vector<std::uint8_t>(elements.begin(), elements.end())
                               : bytes_of(elements);
}

/// Returns the extents in memory order. Findings name an element by its indices in that order.
std::vector<std::int64_t> shape_in_memory(const Problem& problem, TensorRole role) {
  const TensorShape of = tensor_shape(problem, role);
  return problem.layout == Layout::bshd
             ? std::vector<std::int64_t>{of.batch, of.rows, of.heads, of.columns}
             : std::vector<std::int64_t>{of.batch, of.heads, of.rows, of.columns};
}

emulate::Allocation tensor(TensorRole role, const Problem& problem,
                           const std::vector<std::uint16_t>& elements) {
  return {.name = std::string(enum_name(role)),
          .bytes = bytes_of(elements, dtype_of(problem, role)),
          .shape = shape_in_memory(problem, role),
          .element_bytes = element_bytes(dtype_of(problem, role))};
}

std::array<std::uint32_t, 3> extents(const std::array<std::int64_t, 3>& of) {
  return {static_cast<std::uint32_t>(of[0]), static_cast<std::uint32_t>(of[1]),
          static_cast<std::uint32_t>(of[2])};
}

emulate::TensorMap emulated_map(const TensorMapPiece& piece, std::uint64_t address) {
  emulate::TensorMap map;
  const std::size_t type = index_of_name(kTensorMapElementTypes, piece.element_type);
  map.element_bytes = static_cast<std::uint8_t>(kTensorMapElementBytes.at(type));
  map.rank = static_cast<std::uint8_t>(piece.sizes.size());
  map.address = address;
  for (std::size_t i = 0; i < piece.sizes.size(); ++i) {
    map.sizes.at(i) = static_cast<std::uint64_t>(piece.sizes[i]);
    map.strides.at(i) =
        i == 0 ? map.element_bytes : static_cast<std::uint64_t>(piece.strides_bytes.at(i - 1));
    map.box.at(i) = static_cast<std::uint32_t>(piece.box.at(i));
    map.steps.at(i) =
        static_cast<std::uint8_t>(std::clamp<std::int64_t>(piece.element_strides.at(i), 0, 255));
  }
  map.fills_nan = piece.oob_fill != "none" ? 1 : 0;
  map.swizzle = static_cast<emulate::Swizzle>(index_of_name(kTensorMapSwizzles, piece.swizzle));
  return map;
}

[[noreturn]] void refuse(const TensorMapPiece& piece, const std::string& why) {
  throw Error(ExitCode::bad_file, fmt::format("a tensor map of {}: {}", piece.tensor, why),
              "the kernel's arguments");
}

TensorMapBytes encode(const TensorMapPiece& piece, std::uint64_t address) {
  constexpr std::size_t kSwizzles = 4;
  constexpr std::array<std::string_view, 3> kConverting{"float32_ftz", "tfloat32", "tfloat32_ftz"};
  if (piece.interleave != "none" || index_of_name(kTensorMapSwizzles, piece.swizzle) >= kSwizzles) {
    refuse(piece, "interleaving and swizzles other than 32b, 64b and 128b are not emulated");
  }
  if (is_among(piece.element_type, kConverting)) {
    refuse(piece, fmt::format("copies that convert to {} are not emulated", piece.element_type));
  }
  try {
    return emulate::encode_tensor_map(emulated_map(piece, address));
  } catch (const std::invalid_argument& error) {
    refuse(piece, fmt::format("it is refused: {}", error.what()));
  }
}

emulate::Allocation buffer(const KernelBuffer& of) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(of.bytes));
  for (std::size_t i = 0; of.word != 0 && i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(of.word >> (8 * (i % sizeof of.word)));
  }
  return {.name = of.name, .bytes = std::move(bytes)};
}

emulate::Allocation first_rows(std::string_view name, const std::vector<std::int64_t>& lengths) {
  return {.name = std::string(name),
          .bytes = bytes_of(starts_of(lengths)),
          .shape = {std::ssize(lengths) + 1},
          .element_bytes = sizeof(std::int32_t)};
}

emulate::Allocation key_lengths(const Problem& problem) {
  const std::vector<std::int64_t> lengths = kv_lengths(problem);
  return {.name = std::string(kKeyLengthsTensor),
          .bytes = bytes_of(std::vector<std::int32_t>(lengths.begin(), lengths.end())),
          .shape = {problem.batch},
          .element_bytes = sizeof(std::int32_t)};
}

emulate::Allocation floats(std::string_view name, const std::vector<float>& values,
                           std::vector<std::int64_t> shape) {
  return {.name = std::string(name),
          .bytes = bytes_of(values),
          .shape = std::move(shape),
          .element_bytes = sizeof(float)};
}

emulate::Allocation scales(std::string_view name, const Problem& problem, TensorRole role,
                           const std::vector<float>& values) {
  const TensorShape of = scale_shape(problem, role);
  return floats(name, values, {of.batch, of.rows, of.heads});
}

emulate::Allocation table_of_pages(const Problem& problem, const HeadInputs& inputs) {
  return {.name = std::string(kPageTableTensor),
          .bytes = bytes_of(inputs.page_table),
          .shape = {problem.batch, pages_of_sequence(problem)},
          .element_bytes = sizeof(std::int32_t)};
}

std::vector<std::uint16_t> empty_output(const Problem& problem) {
  return std::vector<std::uint16_t>(
      static_cast<std::size_t>(tensor_elements(problem, TensorRole::o)), kPoison);
}

emulate::Allocation empty_dump(const DumpExtents& extents, std::int64_t d_head_v) {
  const auto elements = static_cast<std::size_t>(extents.values(d_head_v)) * 2;
  return {.name = "dump", .bytes = bytes_of(std::vector<std::uint16_t>(elements, kPoison))};
}

/// The memory of one run: Q, K, V, O, lengths, sinks, pages, intermediates, workspaces and further
/// outputs, each with the name that the kernel's arguments use.
class EmulatedTensors {
 public:
  EmulatedTensors(const Problem& problem, const HeadInputs& inputs,
                  const std::optional<DumpExtents>& dump, const std::vector<KernelBuffer>& buffers,
                  const KeptWorkspaces& kept)
      : inputs_(inputs),
        q_dtype_(problem.dtype),
        kv_dtype_(problem.kv_dtype),
        q_(memory_.allocate(tensor(TensorRole::q, problem, inputs.q))),
        k_(memory_.allocate(tensor(TensorRole::k, problem, inputs.k))),
        v_(problem.latent ? k_ : memory_.allocate(tensor(TensorRole::v, problem, inputs.v))),
        o_(memory_.allocate(tensor(TensorRole::o, problem, empty_output(problem)),
                            emulate::GlobalMemory::Content::undefined)),
        extents_(dump) {
    if (dump) {
      dump_ = memory_.allocate(empty_dump(*dump, problem.d_head_v),
                               emulate::GlobalMemory::Content::undefined);
    }
    addresses_ = {{"q", q_}, {"k", k_}, {"v", v_}, {"o", o_}, {kDumpTensor, dump_}};
    if (is_packed(problem)) {
      add_small_input(first_rows(kQueryStartsTensor, query_lengths(problem)));
      add_small_input(first_rows(kKeyStartsTensor, kv_lengths(problem)));
    } else if (!problem.seq_lens_kv.empty()) {
      add_small_input(key_lengths(problem));
    }
    if (problem.sinks) {
      add_small_input(floats(kSinksTensor, inputs.sinks, {problem.heads}));
    }
    if (has_scales(problem)) {
      add_small_input(scales(kKeyScalesTensor, problem, TensorRole::k, inputs.k_scales));
      add_small_input(scales(kValueScalesTensor, problem, TensorRole::v, inputs.v_scales));
    }
    if (has_query_scales(problem)) {
      add_small_input(scales(kQueryScalesTensor, problem, TensorRole::q, inputs.q_scales));
    }
    if (has_pages(problem)) {
      add_small_input(table_of_pages(problem, inputs));
    }
    for (const KernelBuffer& one : buffers) {
      addresses_[one.name] =
          one.output.empty()
              ? memory_.allocate(workspace(one, kept))
              : memory_.allocate(poisoned_output(one), emulate::GlobalMemory::Content::undefined);
    }
  }

  [[nodiscard]] std::vector<FurtherOutput> further(const std::vector<KernelBuffer>& buffers) const {
    std::vector<FurtherOutput> outputs;
    for (const KernelBuffer& one : buffers) {
      if (!one.output.empty()) {
        outputs.push_back(further_output(one, memory_.at(addresses_.at(one.name))));
      }
    }
    return outputs;
  }

  [[nodiscard]] KeptWorkspaces kept() const {
    KeptWorkspaces kept;
    for (const auto& [name, bytes] : allocated_) {
      kept[name] = memory_.at(addresses_.at(name)).bytes;
    }
    return kept;
  }
  [[nodiscard]] const KeptWorkspaces& allocated() const { return allocated_; }

  [[nodiscard]] std::vector<std::uint8_t> parameters(const KernelArguments& arguments) const {
    return pack_arguments(arguments,
                          {[this](const std::string& name) { return address_of(name); }, &encode});
  }

  [[nodiscard]] std::vector<std::uint16_t> output() const { return elements_at<std::uint16_t>(o_); }
  [[nodiscard]] std::vector<float> dump() const {
    return extents_ ? elements_at<float>(dump_) : std::vector<float>{};
  }

  [[nodiscard]] bool inputs_changed() const {
    return memory_.at(q_).bytes != bytes_of(inputs_.q, q_dtype_) ||
           memory_.at(k_).bytes != bytes_of(inputs_.k, kv_dtype_) ||
           (v_ != k_ && memory_.at(v_).bytes != bytes_of(inputs_.v, kv_dtype_)) ||
           std::ranges::any_of(small_inputs_, [this](const auto& input) {
             return memory_.at(address_of(input.first)).bytes != input.second;
           });
  }

  emulate::GlobalMemory& memory() { return memory_; }

 private:
  void add_small_input(const emulate::Allocation& input) {
    small_inputs_[input.name] = input.bytes;
    addresses_[input.name] = memory_.allocate(input);
  }

  emulate::Allocation workspace(const KernelBuffer& one, const KeptWorkspaces& kept) {
    emulate::Allocation allocation = buffer(one);
    if (one.clear == "never") {
      allocated_[one.name] = allocation.bytes;
      const auto* const left = value_at(kept, one.name);
      allocation.bytes = left == nullptr ? allocation.bytes : *left;
    }
    return allocation;
  }

  [[nodiscard]] std::uint64_t address_of(const std::string& name) const {
    const std::uint64_t* const found = value_at(addresses_, name);
    if (found == nullptr) {
      throw Error(ExitCode::bad_file, fmt::format("there is no tensor '{}' here", name),
                  "the kernel's arguments");
    }
    return *found;
  }

  template <typename Element>
  [[nodiscard]] std::vector<Element> elements_at(std::uint64_t address) const {
    const std::vector<std::uint8_t>& bytes = memory_.at(address).bytes;
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  const HeadInputs& inputs_;
  DType q_dtype_;
  DType kv_dtype_;
  emulate::GlobalMemory memory_;
  std::uint64_t q_, k_, v_, o_;
  std::map<std::string, std::vector<std::uint8_t>> small_inputs_;  ///< their bytes, by name
  std::optional<DumpExtents> extents_;
  std::uint64_t dump_ = 0;
  std::map<std::string, std::uint64_t> addresses_;
  KeptWorkspaces allocated_;  ///< the contents at allocation
};

/// Returns whether a run wrote to every row of the compared head and to no other head.
bool wrote_that_head(const EmulatedProblem& on, std::span<const std::uint16_t> output) {
  const TensorShape shape = tensor_shape(on.problem, TensorRole::o);
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto first = static_cast<std::size_t>(shape.row_offset(0, row, head));
      const auto columns = static_cast<std::size_t>(shape.columns);
      const bool is_written = std::ranges::any_of(
          output.subspan(first, columns), [](std::uint16_t element) { return element != kPoison; });
      if (is_written != (head == *on.only_head)) {
        return false;
      }
    }
  }
  return true;
}

/// Returns the cluster that the kernel is compiled for, or else that of the launch. Throws
/// Error(bad_file) if the driver would refuse the launch.
std::array<std::uint32_t, 3> cluster_of(const emulate::Program& program,
                                        const LaunchGeometry& geometry) {
  const std::array<std::uint32_t, 3> asked_for = extents(geometry.cluster);
  const std::array<std::uint32_t, 3> cluster = program.cluster.value_or(asked_for);
  if (asked_for != cluster && asked_for != std::array<std::uint32_t, 3>{1, 1, 1}) {
    throw Error(ExitCode::bad_file,
                fmt::format("it is compiled for clusters of {} blocks, but launched with {}",
                            fmt::join(cluster, " x "), fmt::join(asked_for, " x ")),
                program.kernel);
  }
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (geometry.grid[i] % cluster[i] != 0) {
      throw Error(ExitCode::bad_file,
                  fmt::format("clusters of {} blocks do not divide a grid of {}",
                              fmt::join(cluster, " x "), fmt::join(geometry.grid, " x ")),
                  program.kernel);
    }
  }
  return cluster;
}

/// Throws if the launch has more blocks, or needs more memory, than can be emulated.
void check_size(const emulate::Program& program, const LaunchGeometry& geometry) {
  constexpr double kMostBlocks = 1U << 22U;
  constexpr double kMostBytes = 1U << 30U;
  const auto product = [](const std::array<std::int64_t, 3>& extent) {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) *
           static_cast<double>(extent[2]);
  };
  const auto check = [&](double value, double most, const char* what) {
    if (value > most) {
      throw Error(ExitCode::too_large, fmt::format("the launch has {:.0f} {}", value, what),
                  program.kernel, fmt::format("at most {:.0f} are emulated", most));
    }
  };
  check(product(geometry.grid), kMostBlocks, "blocks");
  double buffers = 0.0;
  for (const KernelBuffer& buffer : geometry.arguments.buffers) {
    buffers += static_cast<double>(buffer.bytes);
  }
  check(buffers, kMostBytes, "bytes in its workspaces and outputs");
  const std::array<std::uint32_t, 3> cluster = cluster_of(program, geometry);
  const double threads = product(geometry.block) * product({cluster[0], cluster[1], cluster[2]});
  check(threads * (program.local_bytes + program.register_bytes / double{emulate::kLanes}),
        kMostBytes, "bytes in registers and local memory of a cluster");
}

std::variant<EmulatedDebug, NotEmulated> run(const EmulatedKernel& kernel,
                                             const EmulatedDebugCase& of) {
  EmulatedRun once;
  once.dump = of.dump;
  EmulatedOutput output = run_naming_ends(kernel.program, of.launch, of.inputs, once);
  if (!output.result.limit.empty() && output.result.findings.empty()) {
    return NotEmulated{output.result.limit};
  }
  EmulatedDebug shown{
      {std::move(output.output), std::move(output.dump)}, output.result.finished, {}, {}};
  shown.findings = mapped(output.result.findings.all(), [&](const emulate::Finding& finding) {
    return located(kernel, finding);
  });
  shown.groups = group_findings(shown.findings);
  return shown;
}

}  // namespace

EmulatedOutput run_naming_ends(const emulate::Program& program, const EmulatedLaunch& launch,
                               const HeadInputs& inputs, EmulatedRun& run) {
  EmulatedOutput output = run_emulated(program, launch, inputs, run);
  const auto& findings = output.result.findings.all();
  const bool has_race = std::ranges::any_of(findings, [](const emulate::Finding& finding) {
    return emulate::has_two_ends(finding.kind);
  });
  if (run.checks.both_ends || !has_race) {
    return output;
  }
  run.checks.both_ends = true;
  return run_emulated(program, launch, inputs, run);
}

EmulatedOutput run_emulated(const emulate::Program& program, const EmulatedLaunch& launch,
                            const HeadInputs& inputs, const EmulatedRun& run) {
  const KernelArguments& arguments = launch.geometry.arguments;
  check_size(program, launch.geometry);
  EmulatedTensors tensors(launch.on.problem, inputs, run.dump, arguments.buffers, run.kept);
  const std::vector<std::uint8_t> parameters = tensors.parameters(arguments);
  emulate::LaunchSetup setup;
  setup.grid = extents(launch.geometry.grid);
  setup.block = extents(launch.geometry.block);
  setup.cluster = cluster_of(program, launch.geometry);
  setup.resident_blocks = launch.resident_blocks;
  setup.dynamic_smem_bytes = static_cast<std::uint32_t>(launch.geometry.dynamic_smem_bytes);
  setup.parameters = parameters;
  setup.schedule = run.schedule;
  setup.checks = run.checks;
  setup.most_warp_instructions = kMostWarpInstructions;
  setup.stopped = run.stopped;
  setup.name_shared = [&launch](std::uint32_t offset) {
    return name_byte(launch.shared_tensors, offset);
  };
  if (launch.on.only_head) {
    setup.chosen = [&launch](std::uint32_t block) {
      return launch.blocks.contains(block, launch.geometry);
    };
  }
  EmulatedOutput output;
  put_state(program, run.state.empty() ? loaded_state(program) : run.state, tensors.memory());
  output.result = run_kernel(program, tensors.memory(), setup);
  output.state = state_in(program, tensors.memory());
  output.kept = tensors.kept();
  output.kept_changed = output.kept != tensors.allocated();
  const std::vector<std::uint16_t> whole = tensors.output();
  output.output = compared_elements(launch.on, TensorRole::o, whole);
  output.blocks_fit = !launch.on.only_head || wrote_that_head(launch.on, whole);
  output.further = tensors.further(arguments.buffers);
  output.inputs_changed = tensors.inputs_changed();
  output.dump = tensors.dump();
  return output;
}

std::variant<EmulatedDebug, NotEmulated> emulate_for_debug(const EmulatedDebugCase& of) {
  const Problem& problem = of.launch.on.problem;
  if (problem.seq_len * problem.seq_len_kv > kMostEmulatedScores) {
    return NotEmulated{
        fmt::format("{} queries times {} keys are more than the {} that are emulated",
                    problem.seq_len, problem.seq_len_kv, kMostEmulatedScores)};
  }
  try {
    return run(read_kernel(of.artifact, of.sources, of.config, of.launch.geometry.arguments), of);
  } catch (const Error& error) {
    return NotEmulated{error.what()};
  }
}

}  // namespace fatune

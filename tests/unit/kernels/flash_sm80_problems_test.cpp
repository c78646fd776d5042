// Runs flash_sm80 in the emulator on all kinds of attention problems: grouped queries, other
// lengths of K and V, windows, both layouts, all head dimensions, log-sum-exps. Compares it with
// attention in float64.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file_tree.hpp"
#include "emulator/launch.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "exhaustive.hpp"
#include "gpu/compiler.hpp"
#include "model/cpu_reference.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"

namespace fatune {
namespace {

constexpr Arch kEmulatedArch{80, '\0'};
constexpr double kMmaFlop = 2.0 * 16 * 8 * 16;  // of one m16n8k16

const FileTree& problem_tree() {
  static const FileTree files;
  return files;
}

const Family& problem_family() {
  static const Family loaded = load_family(problem_tree(), "flash_sm80");
  return loaded;
}

const DeviceLimits& problem_limits() {
  static const DeviceLimits limits = load_device_limits(problem_tree(), kEmulatedArch);
  return limits;
}

/// One configuration on one problem.
struct ProblemCase {
  Config config;
  Problem problem;
  std::uint64_t seed = 1;
};

std::string describe_case(const ProblemCase& on) {
  return fmt::format("{} on {}, seed {}", short_form(problem_family(), on.config),
                     describe(on.problem), on.seed);
}

/// The memory after the kernel, and the cost of running it.
struct ProblemRun {
  std::vector<std::uint16_t> o;
  std::vector<float> lse;
  std::string finding;  ///< the first; empty: none
  double products = 0;  ///< mma instructions, counted for each warp
  bool conflicts = false;
};

struct ProblemInputs {
  std::vector<std::uint16_t> q, k, v;
};

std::vector<std::uint16_t> normal_elements(const Problem& problem, TensorRole role,
                                           std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<std::uint16_t> elements(static_cast<std::size_t>(tensor_elements(problem, role)));
  for (std::uint16_t& element : elements) {
    element = round_to_element(normal(random), problem.dtype);
  }
  return elements;
}

ProblemInputs normal_inputs(const ProblemCase& on) {
  std::mt19937_64 random(on.seed);
  return {normal_elements(on.problem, TensorRole::q, random),
          normal_elements(on.problem, TensorRole::k, random),
          normal_elements(on.problem, TensorRole::v, random)};
}

/// Q, K, V, O and the log-sum-exps in the emulator's memory.
class ProblemTensors {
 public:
  ProblemTensors(const ProblemCase& on, const ProblemInputs& inputs)
      : q_(allocate("Q", std::span(inputs.q))),
        k_(allocate("K", std::span(inputs.k))),
        v_(allocate("V", std::span(inputs.v))),
        o_(allocate_undefined("O", inputs.q.size() * sizeof(std::uint16_t))),
        lse_(allocate_undefined(
            "LSE", static_cast<std::size_t>(output_rows(on.problem)) * sizeof(float))) {}

  [[nodiscard]] std::vector<std::uint8_t> packed(const KernelArguments& arguments) const {
    const std::map<std::string, std::uint64_t> addresses{
        {"q", q_}, {"k", k_}, {"v", v_}, {"o", o_}, {"lse", lse_}};
    return pack_arguments(
        arguments, {[&](const std::string& tensor) { return addresses.at(tensor); }, nullptr});
  }

  [[nodiscard]] std::vector<std::uint16_t> o() const { return read<std::uint16_t>(o_); }
  [[nodiscard]] std::vector<float> lse() const { return read<float>(lse_); }
  emulate::GlobalMemory& memory() { return memory_; }

 private:
  std::uint64_t allocate(const char* name, std::span<const std::uint16_t> elements) {
    emulate::Allocation allocation;
    allocation.name = name;
    allocation.bytes.resize(elements.size_bytes());
    std::memcpy(allocation.bytes.data(), elements.data(), elements.size_bytes());
    return memory_.allocate(std::move(allocation));
  }

  /// Sets all bits, which gives NaN in every type.
  std::uint64_t allocate_undefined(const char* name, std::size_t bytes) {
    emulate::Allocation allocation;
    allocation.name = name;
    allocation.bytes.assign(bytes, 0xff);
    return memory_.allocate(std::move(allocation), emulate::GlobalMemory::Content::undefined);
  }

  template <typename Element>
  [[nodiscard]] std::vector<Element> read(std::uint64_t address) const {
    const std::vector<std::uint8_t>& bytes = memory_.at(address).bytes;
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  emulate::GlobalMemory memory_;
  std::uint64_t q_, k_, v_, o_, lse_;
};

Artifact problem_ptx(const ProblemCase& on) {
  auto result =
      compile_to_ptx(compile_request({problem_family(), on.config, on.problem, problem_limits()}));
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return std::get<Artifact>(std::move(result));
}

emulate::LaunchSetup launch_setup(const ProblemCase& on, const LaunchGeometry& geometry,
                                  std::span<const std::uint8_t> arguments) {
  emulate::LaunchSetup setup;
  for (std::size_t i = 0; i < 3; ++i) {
    setup.grid[i] = static_cast<std::uint32_t>(geometry.grid[i]);
    setup.block[i] = static_cast<std::uint32_t>(geometry.block[i]);
  }
  setup.dynamic_smem_bytes = static_cast<std::uint32_t>(geometry.dynamic_smem_bytes);
  setup.parameters = arguments;
  setup.schedule = {on.seed % 2 == 0 ? emulate::Timing::late : emulate::Timing::random, on.seed};
  return setup;
}

/// Counts the mma instructions, and notes whether there are bank conflicts.
void count_work(const emulate::Program& program, const PtxFunction& function,
                const emulate::LaunchResult& result, ProblemRun& run) {
  for (std::size_t i = 0; i < result.counts.size(); ++i) {
    const emulate::InstructionCounts& counts = result.counts[i];
    const std::string_view text = function.statements[program.statements[i]].text;
    run.products += text.starts_with("mma.sync") ? static_cast<double>(counts.warps) : 0.0;
    run.conflicts = run.conflicts || counts.shared_wavefronts != counts.ideal_wavefronts;
  }
}

ProblemRun run_problem(const ProblemCase& on, const ProblemInputs& inputs) {
  const Artifact artifact = problem_ptx(on);
  const PtxModule module = parse_ptx(artifact.ptx, "flash_sm80");
  const emulate::Program program =
      emulate::decode_program(module, artifact.lowered_name, "flash_sm80");
  const LaunchGeometry geometry =
      launch_geometry({problem_family(), on.config, on.problem, problem_limits()});
  ProblemTensors tensors(on, inputs);
  const std::vector<std::uint8_t> arguments = tensors.packed(geometry.arguments);
  if (arguments.size() != program.parameter_bytes) {
    throw std::logic_error("the kernel takes other arguments");
  }
  const emulate::LaunchResult result =
      emulate::run_kernel(program, tensors.memory(), launch_setup(on, geometry, arguments));
  ProblemRun run;
  run.o = tensors.o();
  run.lse = tensors.lse();
  run.finding = result.findings.empty() ? "" : result.findings.all().front().text;
  count_work(program, module.functions.front(), result, run);
  return run;
}

/// The greatest error of fp32 sums of 16-bit products that are rounded once to the element type.
/// The inputs are normal.
double output_limit(DType dtype) { return dtype == DType::fp16 ? 0.006 : 0.03; }
constexpr double kLseLimit = 1e-4;

/// The greatest difference, or infinity if a NaN occurs. Equal infinities do not differ.
double greatest_error(std::span<const double> got, std::span<const double> want) {
  double greatest = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double error = got[i] == want[i] ? 0.0 : std::abs(got[i] - want[i]);
    greatest = error <= greatest   ? greatest
               : std::isnan(error) ? std::numeric_limits<double>::infinity()
                                   : error;
  }
  return greatest;
}

void expect_outputs(const ProblemCase& on, const ProblemInputs& inputs, const ProblemRun& run) {
  const auto numbers = [&](std::span<const std::uint16_t> elements) {
    return element_values(elements, on.problem.dtype);
  };
  const std::vector<double> q = numbers(inputs.q);
  const std::vector<double> k = numbers(inputs.k);
  EXPECT_LE(greatest_error(numbers(run.o), cpu_attention(on.problem, q, k, numbers(inputs.v))),
            output_limit(on.problem.dtype));
  if (on.problem.lse) {
    EXPECT_LE(greatest_error(std::vector<double>(run.lse.begin(), run.lse.end()),
                             cpu_log_sum_exp(on.problem, q, k)),
              kLseLimit);
  }
}

/// Expects right outputs, no finding, no bank conflicts of swizzled tiles, and the work that
/// family.json states.
void expect_right(const ProblemCase& on) {
  SCOPED_TRACE(describe_case(on));
  ASSERT_FALSE(check_valid(problem_family(), on.config, &on.problem, &problem_limits()));
  const ProblemInputs inputs = normal_inputs(on);
  const ProblemRun run = run_problem(on, inputs);
  EXPECT_EQ(run.finding, "");
  expect_outputs(on, inputs, run);
  EXPECT_EQ(
      run.products * kMmaFlop,
      find_quantity({problem_family(), on.config, on.problem, problem_limits()}, "tensor_flop"));
  const bool swizzled = on.config.values.at(find_parameter(problem_family(), "swizzled").value());
  EXPECT_FALSE(swizzled && run.conflicts);
}

/// Every configuration of the built-in spaces, with all types and head dimensions.
const std::vector<Config>& all_configs() {
  static const std::vector<Config> configs = [] {
    const Binding all{{DType::fp16, DType::bf16}, {64, 96, 128, 256}};
    const Space space = load_space(problem_tree(), problem_family(), "all");
    return make_plan(problem_family(), space, all).kept;
  }();
  return configs;
}

/// Draws the same values on every platform.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  template <typename Value>
  const Value& of(const std::vector<Value>& values) {
    return values[random_() % values.size()];
  }
  std::int64_t one_of(const std::vector<std::int64_t>& values) { return of(values); }
  bool flag() { return random_() % 2 == 0; }

 private:
  std::mt19937_64 random_;
};

/// A problem of these lengths with the configuration's dtype and head dimension.
Problem problem_for(const Config& config, std::int64_t seq_len, std::int64_t seq_len_kv) {
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(problem_family(), name).value());
  };
  Problem problem{1, seq_len, 2, value("d_head"), static_cast<DType>(value("dtype")), false};
  problem.seq_len_kv = seq_len_kv;
  return problem;
}

/// Draws lengths around those of tiles, shorter and longer, and windows from one key to more than
/// all.
ProblemCase random_problem(std::uint64_t seed) {
  Draw draw(seed);
  const Config config = draw.of(all_configs());
  const std::int64_t seq_len = draw.one_of({1, 17, 64, 65, 128, 150, 200, 256, 300});
  const std::int64_t other = draw.one_of({1, 33, 64, 100, 128, 190, 256, 300});
  Problem problem = problem_for(config, seq_len, draw.flag() ? seq_len : other);
  problem.batch = draw.one_of({1, 1, 2});
  problem.kv_heads = draw.one_of({1, 1, 2});
  problem.heads = problem.kv_heads * draw.one_of({1, 1, 2, 3});
  problem.causal = draw.flag();
  problem.window = draw.one_of({0, 0, 0, 1, 2, 5, 32, 64, 70, 200, 1000});
  problem.lse = draw.flag();
  problem.layout = draw.flag() ? Layout::bshd : Layout::bhsd;
  problem.softmax_scale *= draw.flag() ? 1.0F : 2.5F;
  return {config, problem, seed};
}

class FlashSm80Problems : public testing::TestWithParam<int> {};

// The ten parts may run in parallel.
TEST_P(FlashSm80Problems, RandomOnesAreRight) {
  const std::uint64_t each = is_exhaustive() ? 20 : 2;
  for (std::uint64_t i = 0; i < each; ++i) {
    expect_right(random_problem(static_cast<std::uint64_t>(GetParam()) * each + i + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlashSm80Problems, testing::Range(0, 10));

Config config_of(const std::string& text) { return parse_config(problem_family(), text); }

const std::string kLazy =
    "(FP16, 64, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
const std::string kPlain = "(FP16, 64, 128, 32, 4): async+swizzled+load_2_2_2_tiles";

TEST(FlashSm80Extremes, OneQueryAndOneKey) {
  for (const auto& [queries, keys] : {std::pair{1, 1}, {1, 300}, {300, 1}}) {
    for (const bool causal : {false, true}) {
      ProblemCase on{config_of(kLazy), problem_for(config_of(kLazy), queries, keys)};
      on.problem.causal = causal;
      on.problem.lse = true;
      expect_right(on);
    }
  }
}

// The first 156 queries see no key. With blocks of 64 queries, these are two blocks and a part of
// the third; with blocks of 128, one block and a part of the second.
TEST(FlashSm80Extremes, QueriesWithoutKeysAreZerosAndMinusInfinity) {
  for (const std::string& config : {kLazy, kPlain}) {
    ProblemCase on{config_of(config), problem_for(config_of(config), 256, 100)};
    on.problem.causal = true;
    on.problem.lse = true;
    expect_right(on);
    const ProblemRun run = run_problem(on, normal_inputs(on));
    EXPECT_EQ(run.o.front(), 0);
    EXPECT_EQ(run.lse.front(), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isfinite(run.lse.at(156))) << "the first query that sees a key";
  }
}

TEST(FlashSm80Extremes, WindowsOfOneKeyAndOfMoreThanAll) {
  std::size_t index = 0;
  for (const std::int64_t window : {1, 2, 63, 64, 65, 128, 129, 1000, 16777216}) {
    for (const bool causal : {false, true}) {
      if (!is_taken(index++, 0, 3)) {
        continue;
      }
      ProblemCase on{config_of(kLazy), problem_for(config_of(kLazy), 192, 192)};
      on.problem.window = window;
      on.problem.causal = causal;
      on.problem.lse = true;
      expect_right(on);
    }
  }
}

// A window's work does not grow with the keys before it.
TEST(FlashSm80Extremes, AWindowBoundsTheWork) {
  const Config config = config_of(kLazy);
  const auto products = [&](std::int64_t keys) {
    ProblemCase on{config, problem_for(config, 64, keys)};
    on.problem.causal = true;
    on.problem.window = 64;
    return run_problem(on, normal_inputs(on)).products;
  };
  EXPECT_EQ(products(2048), products(256));
}

// The largest and the smallest tiles of each head dimension, some of them unswizzled.
TEST(FlashSm80Extremes, TilesOfAllSizes) {
  for (const char* text : {"(BF16, 64, 256, 32, 8): async+eager+swizzled+load_2_2_2_tiles",
                           "(FP16, 96, 256, 128, 8): async+eager+load_0_4_4_tiles+opt_softmax",
                           "(FP16, 96, 128, 32, 8): swizzled+load_4_4_4_tiles",
                           "(FP16, 256, 64, 128, 4): async+eager+load_2_2_2_tiles",
                           "(BF16, 256, 128, 32, 8): async+swizzled+load_16_16_4_tiles"}) {
    ProblemCase on{config_of(text), problem_for(config_of(text), 270, 333)};
    on.problem.causal = true;
    on.problem.window = 90;
    on.problem.heads = 4;
    on.problem.lse = true;
    expect_right(on);
  }
}

TEST(FlashSm80Extremes, AllHeadsShareOneHeadOfKeys) {
  ProblemCase on{config_of(kPlain), problem_for(config_of(kPlain), 70, 70)};
  on.problem.heads = 8;
  on.problem.kv_heads = 1;
  for (const Layout layout : {Layout::bshd, Layout::bhsd}) {
    on.problem.layout = layout;
    expect_right(on);
  }
}

}  // namespace
}  // namespace fatune

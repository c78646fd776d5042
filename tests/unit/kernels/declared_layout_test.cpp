// What family.json says of a kernel and the kernel's own code says too: the places of a struct's
// members, the plan of shared memory, and the registers of consumers. NVRTC compiles the kernel's
// headers with a static_assert for each of these facts.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "base/file_tree.hpp"
#include "gpu/compiler.hpp"
#include "model/device_limits.hpp"
#include "model/shared_tensor.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

// Causal, so that no configuration has a shorter step, whose length is a define.
const Problem kDeclaredProblem{2, 1024, 8, 128, DType::fp16, true};

FileTree declared_tree() {
  FileTree files;
  files.overlay_kernels(FATUNE_SOURCE_DIR "/tests/families/tma_toy");
  files.overlay_kernels(FATUNE_SOURCE_DIR "/tests/families/broken_hopper");
  return files;
}

struct DeclaredFamily {
  explicit DeclaredFamily(const char* name) : family(load_family(files, name)) {}

  [[nodiscard]] LaunchGeometry launch(const Config& config, const Problem& problem) const {
    return launch_geometry({family, config, problem, limits});
  }
  [[nodiscard]] std::vector<Config> default_space() const {
    return make_plan(family, load_space(files, family, family.default_space)).kept;
  }
  /// The problem with the configuration's values.
  [[nodiscard]] Problem problem_of(const Config& config) const {
    Problem problem = kDeclaredProblem;
    problem.dtype = static_cast<DType>(config.values.at(find_parameter(family, "dtype").value()));
    problem.kv_dtype = problem.dtype;
    problem.d_head = config.values.at(find_parameter(family, "d_head").value());
    problem.d_head_v = usual_d_head_v(family, config).value_or(problem.d_head);
    problem.latent = usual_latent(family, config);
    return problem;
  }

  /// Compiles a translation unit in place of the kernel's, with its options and defines. Returns
  /// the log of errors; empty if there are none.
  [[nodiscard]] std::string log_of(const Config& config, const std::string& code) const {
    CompileRequest request = compile_request({family, config, problem_of(config), limits});
    auto sources = std::make_shared<SourceBundle>(*request.sources);
    sources->main.text = code + "\nextern \"C\" __global__ void declared() {}\n";
    request.sources = std::move(sources);
    request.entry_is_template = false;
    request.entry_point = "declared";
    const CompileResult result = compile_to_ptx(request);
    const auto* failed = std::get_if<CompileFailed>(&result);
    return failed == nullptr ? "" : failed->log;
  }

  FileTree files = declared_tree();
  DeviceLimits limits = load_device_limits(files, {90, 'a'});
  Family family;
};

// --- The members of a struct ---

/// The names of the members of the struct that are there, in order.
std::vector<std::string> member_names(const DeclaredFamily& of, const Config& config,
                                      const Problem& problem, const std::string& pointer) {
  const std::vector<double> scope = make_scope(of.family, config, &problem, &of.limits);
  std::vector<std::string> names;
  for (const LaunchStep& step : of.family.arguments.steps) {
    const bool is_member = step.pointer.starts_with(pointer + "/struct/");
    if (is_member && (!step.when || step.when->holds(scope))) {
      names.push_back(step.name);
    }
  }
  return names;
}

std::vector<std::int64_t> member_offsets(const KernelArgument& argument) {
  std::vector<std::int64_t> offsets;
  std::ranges::transform(argument.scalars, std::back_inserter(offsets), &ScalarPiece::offset);
  std::ranges::transform(argument.addresses, std::back_inserter(offsets), &AddressPiece::offset);
  std::ranges::sort(offsets);
  return offsets;
}

/// Asserts the places of a struct's members. index: of the struct among those of the arguments
std::string struct_asserts(const DeclaredFamily& of, const Config& config, const Problem& problem,
                           std::string_view type, std::ptrdiff_t index) {
  const LaunchGeometry launch = of.launch(config, problem);
  auto structs = launch.arguments.list | std::views::filter([](const KernelArgument& one) {
                   return one.scalars.size() > 1;
                 });
  const KernelArgument& argument = *std::ranges::next(structs.begin(), index);
  const std::vector<std::string> names = member_names(of, config, problem, argument.pointer);
  const std::vector<std::int64_t> offsets = member_offsets(argument);
  EXPECT_EQ(names.size(), offsets.size());
  // NVRTC has no <cstddef>; __INTADDR__ is the operator that its front end has for this.
  std::string code = fmt::format(
      "#define offsetof(type, member) __INTADDR__(&((type*)0)->member)\n"
      "static_assert(sizeof({0}) == {1}, \"the size of {0}\");\n",
      type, argument.bytes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    code += fmt::format("static_assert(offsetof({0}, {1}) == {2}, \"the offset of {1}\");\n", type,
                        names[i], offsets[i]);
  }
  return code;
}

/// Asserts the places of the members of Work, the first struct among the arguments.
std::string work_asserts(const DeclaredFamily& of, const Config& config, const Problem& problem) {
  return struct_asserts(of, config, problem, "Work", 0);
}

constexpr const char* kWorkHeader = "#include \"flash_sm90/kernel_args.cuh\"\n";

constexpr const char* kSplitConfig =
    "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+dynamic+split";

TEST(DeclaredStruct, WorkHasItsMembersWhereTheKernelReadsThem) {
  const DeclaredFamily flash("flash_sm90");
  for (const char* text :
       {kSplitConfig, "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1"}) {
    const Config config = parse_config(flash.family, text);
    for (const bool lse : {false, true}) {
      Problem problem = kDeclaredProblem;
      problem.lse = lse;
      EXPECT_EQ(flash.log_of(config, kWorkHeader + work_asserts(flash, config, problem)), "");
    }
  }
}

TEST(DeclaredStruct, WorkOfEightBitsHasTheScales) {
  const DeclaredFamily flash("flash_sm90");
  const Config config = parse_config(
      flash.family, "(ws, E4M3, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1");
  const std::string asserts = work_asserts(flash, config, flash.problem_of(config));
  EXPECT_THAT(asserts, HasSubstr("offsetof(Work, scale_stride)"));
  EXPECT_EQ(flash.log_of(config, kWorkHeader + asserts), "");
}

TEST(DeclaredStruct, WorkOfEightBitsInBlocksHasTheirNumbers) {
  const DeclaredFamily flash("flash_sm90");
  const Config config = parse_config(
      flash.family, "(ws, E4M3, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_1");
  Problem problem = flash.problem_of(config);
  problem.kv_scales = KvScales::block;
  const std::string asserts = work_asserts(flash, config, problem);
  EXPECT_THAT(asserts, HasSubstr("offsetof(Work, key_blocks)"));
  EXPECT_EQ(flash.log_of(config, "#define FATUNE_SCALE_BLOCK 128\n" + (kWorkHeader + asserts)), "");
}

TEST(DeclaredStruct, TwoMembersThatChangePlacesAreNoticed) {
  DeclaredFamily flash("flash_sm90");
  const Config config = parse_config(flash.family, kSplitConfig);
  auto& steps = flash.family.arguments.steps;
  std::iter_swap(std::ranges::find(steps, "tiles", &LaunchStep::name),
                 std::ranges::find(steps, "split_tiles", &LaunchStep::name));
  const std::string log =
      flash.log_of(config, kWorkHeader + work_asserts(flash, config, kDeclaredProblem));
  EXPECT_THAT(log, HasSubstr("the offset of tiles"));
  EXPECT_THAT(log, HasSubstr("the offset of split_tiles"));
}

constexpr const char* kDecodeConfig = "(FP16, 128, 16, 64, 3, 2): parts_256";

TEST(DeclaredStruct, WorkOfDecodingHasItsMembersWhereTheKernelReadsThem) {
  const DeclaredFamily decode("flash_decode");
  const Config config = parse_config(decode.family, kDecodeConfig);
  for (const bool lse : {false, true}) {
    Problem problem = kDeclaredProblem;
    problem.lse = lse;
    EXPECT_EQ(decode.log_of(config, "#include \"flash_decode/kernel_args.cuh\"\n" +
                                        work_asserts(decode, config, problem)),
              "");
  }
}

TEST(DeclaredStruct, WorkOfDecodingInPagesHasFurtherMembers) {
  const DeclaredFamily decode("flash_decode");
  const Config config = parse_config(decode.family, kDecodeConfig);
  Problem problem = kDeclaredProblem;
  problem.page_size = 16;
  const std::string asserts = work_asserts(decode, config, problem);
  EXPECT_THAT(asserts, HasSubstr("offsetof(Work, page_table)"));
  EXPECT_EQ(decode.log_of(config,
                          "#define FATUNE_PAGE_SIZE 16\n"
                          "#include \"flash_decode/kernel_args.cuh\"\n" +
                              asserts),
            "");
}

TEST(DeclaredStruct, WorkOfDecodingWithKeysOf8BitsHasTheirScales) {
  const DeclaredFamily decode("flash_decode");
  const Config config = parse_config(decode.family, kDecodeConfig);
  Problem problem = kDeclaredProblem;
  problem.kv_dtype = DType::e4m3;
  for (const KvScales scales : {KvScales::head, KvScales::token}) {
    problem.kv_scales = scales;
    const std::string asserts = work_asserts(decode, config, problem);
    EXPECT_THAT(asserts, HasSubstr("offsetof(Work, scale_head_stride)"));
    EXPECT_EQ(decode.log_of(config, fmt::format("#define FATUNE_KV_DTYPE 24\n"
                                                "#define FATUNE_KEY_SCALES {}\n"
                                                "#include \"flash_decode/kernel_args.cuh\"\n",
                                                scales == KvScales::token ? 1 : 0) +
                                        asserts),
              "");
  }
}

TEST(DeclaredStruct, WorkOfLatentDecodingSaysWhetherSumsAreMerged) {
  const DeclaredFamily decode("flash_decode");
  const Config config =
      parse_config(decode.family, "(BF16, 576, 64, 64, 2, 1): parts_512+shared_sums");
  Problem problem = kDeclaredProblem;
  problem.heads = problem.kv_heads = 1;
  problem.d_head = 576;
  problem.d_head_v = 512;
  problem.latent = true;
  problem.seq_len = 1;
  const std::string asserts = work_asserts(decode, config, problem);
  EXPECT_THAT(asserts, HasSubstr("offsetof(Work, merges)"));
  EXPECT_EQ(decode.log_of(config,
                          "#define FATUNE_MERGE_SUMS 1\n"
                          "#include \"flash_decode/kernel_args.cuh\"\n" +
                              asserts),
            "");
}

TEST(DeclaredStruct, DecodingOnOlderDevicesHasTheMembersOfBothStructsThere) {
  const DeclaredFamily decode("flash_decode_sm80");
  const Config config = parse_config(decode.family, "(FP16, 128, 16, 64, 3, 4, 1): parts_256");
  EXPECT_EQ(decode.log_of(config,
                          "#include \"flash_decode_sm80/kernel_args.cuh\"\n" +
                              work_asserts(decode, config, kDeclaredProblem) +
                              struct_asserts(decode, config, kDeclaredProblem, "KeysAndValues", 1)),
            "");
}

TEST(DeclaredStruct, TestsFamiliesHaveTheirMembersThereToo) {
  for (const char* name : {"broken_hopper", "tma_toy"}) {
    const DeclaredFamily of(name);
    const Config config = of.default_space().at(0);
    const std::string code = name == std::string_view("tma_toy")
                                 ? of.family.sources.items[0].value->main.text
                                 : kWorkHeader;
    EXPECT_EQ(of.log_of(config, code + work_asserts(of, config, of.problem_of(config))), "")
        << name;
  }
}

// --- The plan of shared memory, and the registers ---

/// The configuration as the kernel's template argument.
std::string template_argument(const Family& family, const Config& config) {
  const std::string name = kernel_name(family, config);
  return name.substr(name.find('<') + 1, name.rfind('>') - name.find('<') - 1);
}

/// Asserts that stages and panels of a tensor begin where the kernel has them. `{}` in `place` is
/// the stage.
std::string tensor_asserts(const SharedTensor& tensor, const char* place, const char* panel_bytes) {
  std::string code;
  for (std::int64_t stage = 0; stage < tensor.stages; ++stage) {
    for (std::int64_t column = 0; column < tensor.columns; column += tensor.panel_columns) {
      code += fmt::format("static_assert({} + {} * {} == {}, \"{}, stage {}, column {}\");\n",
                          fmt::format(fmt::runtime(place), stage), column / tensor.panel_columns,
                          panel_bytes, offset_of(tensor, {stage, 0, column}), tensor.name, stage,
                          column);
    }
  }
  return code;
}

/// Asserts that one copy of a tensor map is what a block of a cluster loads at once, or a consumer
/// loads or stores.
std::string box_asserts(const TensorMapPiece& map) {
  const bool of_keys = map.tensor == "k" || map.tensor == "v";
  const char* const columns =
      map.tensor == "q" || map.tensor == "k" ? "S::kHeadDim" : "S::kHeadDimV";
  const std::string row = std::string(columns) + (map.tensor == "o" ? ", false" : "");
  const std::string copied =
      of_keys ? fmt::format("ClusterShare<S, {}>", columns) : fmt::format("Panels<{}>", row);
  return fmt::format(
      "static_assert({0}::kPerCopy == {1}, \"panels of a copy of {2}\");\n"
      "static_assert({3} == {4}, \"rows of a copy of {2}\");\n"
      "static_assert((Panels<{5}>::kInMap ? Panels<{5}>::kWidth : {7}) == {6}, "
      "\"columns of the map of {2}\");\n",
      copied, map.box.at(2), map.tensor, of_keys ? copied + "::kRows" : "S::kGroupRows",
      map.box.at(1), row, map.sizes.at(0), columns);
}

/// Asserts the facts of one configuration, in a namespace of its own.
std::string shared_asserts(const DeclaredFamily& of, const Config& config, std::size_t index) {
  const Problem problem = of.problem_of(config);
  const auto tensors = shared_tensors({of.family, config, problem, of.limits});
  const auto quantity = [&](const char* name) {
    return find_quantity({of.family, config, problem, of.limits}, name).value();
  };
  const std::string facts = fmt::format(
      "static_assert(S::kQuerySlots * S::kGroups + S::kSpareSlot == {}, \"stages of sQ\");\n"
      "static_assert(S::kStages == {}, \"stages of sK\");\n"
      "static_assert(P::kBarriers == {}, \"the end of sV\");\n"
      "static_assert(((kEightBits ? P::full_t(S::kStages) : P::tile(S::kTileSlots)) "
      "- P::kBarriers + 15) / 16 * 16 == {}, \"barrier_bytes\");\n"
      "static_assert(S::kThreads == {}, \"threads\");\n"
      "static_assert(S::kConsumerRegisters == {}, \"consumer_registers\");\n"
      "static_assert(S::kHeadDimV == {}, \"head_dim_v\");\n"
      "static_assert(S::kScoreDepth == {}, \"score_depth\");\n",
      tensors.at(0).stages, tensors.at(1).stages,
      quantity("smem_bytes") - quantity("barrier_bytes"), quantity("barrier_bytes"),
      quantity("threads"), quantity("consumer_registers"), quantity("head_dim_v"),
      quantity("score_depth"));
  const LaunchGeometry launch = of.launch(config, problem);
  std::string boxes;
  for (std::size_t i = 0; i < 4; ++i) {
    boxes += box_asserts(launch.arguments.list.at(i).tensor_maps.at(0));
  }
  return fmt::format(
      "namespace n{} {{\nusing S = Shape<{}>;\nusing P = SmemPlan<S>;\n{}{}{}{}{}{}}}\n", index,
      template_argument(of.family, config),
      tensor_asserts(tensors.at(0),
                     "P::query(S::kSpareSlot ? {0} : {0} / S::kGroups, {0} % S::kGroups)",
                     "P::kPanelBytesQ"),
      tensor_asserts(tensors.at(1), "P::key({})", "P::kPanelBytesKv"),
      tensor_asserts(tensors.at(2), "P::value({})", "P::kPanelBytesKv"),
      tensor_asserts(tensors.at(3), "P::transposed(0) + {} * P::kPanelBytesT", "0"), boxes, facts);
}

/// A sample of the valid configurations, with a Q of 16 bits or of 8, on problems with K and V of
/// this type; none: that of Q.
std::vector<Config> shared_configs(const DeclaredFamily& of,
                                   std::optional<DType> kv_dtype = std::nullopt,
                                   bool of_8_bits = false) {
  constexpr std::size_t kCount = 200;
  std::vector<Config> configs;
  std::mt19937 random(1);
  while (configs.size() < kCount) {
    Config config{of.family.name, {}};
    for (const Parameter& parameter : of.family.parameters) {
      config.values.push_back(parameter.values[random() % parameter.values.size()]);
    }
    Problem problem = of.problem_of(config);
    problem.kv_dtype = kv_dtype.value_or(problem.dtype);
    if (has_eight_bits(problem.dtype) == of_8_bits &&
        !check_valid(of.family, config, &problem, &of.limits)) {
      configs.push_back(config);
    }
  }
  return configs;
}

TEST(DeclaredSharedMemory, IsTheKernels) {
  const DeclaredFamily flash("flash_sm90");
  for (const bool of_8_bits : {false, true}) {
    const std::vector<Config> configs = shared_configs(flash, std::nullopt, of_8_bits);
    std::string code = "#include \"flash_sm90/producer.cuh\"\n";
    for (std::size_t i = 0; i < configs.size(); ++i) {
      code += shared_asserts(flash, configs[i], i);
    }
    EXPECT_EQ(flash.log_of(configs.front(), code).substr(0, 2000), "");
  }
}

/// Asserts the facts of one configuration of flash_decode, in a namespace of its own.
std::string decode_asserts(const DeclaredFamily& of, const Config& config, std::size_t index,
                           std::optional<DType> kv_dtype = std::nullopt) {
  Problem problem = of.problem_of(config);
  problem.kv_dtype = kv_dtype.value_or(problem.dtype);
  const auto tensors = shared_tensors({of.family, config, problem, of.limits});
  const auto quantity = [&](const char* name) {
    return find_quantity({of.family, config, problem, of.limits}, name).value();
  };
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(of.family, name).value());
  };
  const std::string facts = fmt::format(
      "static_assert(P::kBytes == {}, \"smem_bytes\");\n"
      "static_assert(P::kP == {}, \"the place of sP\");\n"
      "static_assert(S::kThreads == {}, \"threads\");\n",
      quantity("smem_bytes"), offset_of(tensors.at(1), {0, 0, 0}), quantity("threads"));
  return fmt::format(
      "namespace n{} {{\nusing S = Shape<FlashDecodeConfig{{{}, {}, {}, {}, {}, {}}}>;\n"
      "using P = SmemPlan<S>;\n{}{}}}\n",
      index, value("dtype"), value("d_head"), value("ROWS"), value("STEP_KEYS"),
      value("NUM_STAGES"), value("BLOCKS_PER_SM"),
      tensor_asserts(tensors.at(0), "P::query({})", "P::kPanelBytesQ"), facts);
}

TEST(DeclaredSharedMemory, OfDecodingIsTheKernels) {
  const DeclaredFamily decode("flash_decode");
  const std::vector<Config> configs = shared_configs(decode);
  std::string code = "#include \"flash_decode/config.cuh\"\n";
  for (std::size_t i = 0; i < configs.size(); ++i) {
    code += decode_asserts(decode, configs[i], i);
  }
  EXPECT_EQ(decode.log_of(configs.front(), code), "");
}

TEST(DeclaredSharedMemory, OfDecodingWithKeysOf8BitsIsTheKernels) {
  const DeclaredFamily decode("flash_decode");
  const std::vector<Config> configs = shared_configs(decode, DType::e4m3);
  std::string code = "#define FATUNE_KV_DTYPE 24\n#include \"flash_decode/config.cuh\"\n";
  for (std::size_t i = 0; i < configs.size(); ++i) {
    code += decode_asserts(decode, configs[i], i, DType::e4m3);
  }
  EXPECT_EQ(decode.log_of(configs.front(), code), "");
}

/// Asserts the facts of one configuration of flash_decode_sm80, in a namespace of its own.
std::string decode_sm80_asserts(const DeclaredFamily& of, const Config& config, std::size_t index) {
  const Problem problem = of.problem_of(config);
  const auto tensors = shared_tensors({of.family, config, problem, of.limits});
  const auto quantity = [&](const char* name) {
    return find_quantity({of.family, config, problem, of.limits}, name).value();
  };
  const std::vector<std::int64_t> values(config.values.begin(), config.values.begin() + 7);
  return fmt::format(
      "namespace n{} {{\nusing S = Shape<FlashDecodeConfig{{{}}}>;\nusing P = SmemPlan<S>;\n"
      "static_assert(P::kBytes == {}, \"smem_bytes\");\n"
      "static_assert(S::kThreads == {}, \"threads\");\n"
      "static_assert(S::kKeyWarps == {}, \"key_warps\");\n{}{}{}}}\n",
      index, fmt::join(values, ", "), quantity("smem_bytes"), quantity("threads"),
      quantity("key_warps"), tensor_asserts(tensors.at(0), "P::key({})", "0"),
      tensor_asserts(tensors.at(1), "P::value({})", "0"),
      tensor_asserts(tensors.at(2), "P::query({})", "0"));
}

TEST(DeclaredSharedMemory, OfDecodingOnOlderDevicesIsTheKernels) {
  const DeclaredFamily decode("flash_decode_sm80");
  const std::vector<Config> configs = shared_configs(decode);
  std::string code = "#include \"flash_decode_sm80/config.cuh\"\n";
  for (std::size_t i = 0; i < configs.size(); ++i) {
    code += decode_sm80_asserts(decode, configs[i], i);
  }
  EXPECT_EQ(decode.log_of(configs.front(), code), "");
}

// The kernel's code takes lines of 128 bytes and the 128-byte swizzle for granted.
TEST(DeclaredSharedMemory, IsWhatTensorMapsWrite) {
  const DeclaredFamily flash("flash_sm90");
  const Config config = parse_config(flash.family, kSplitConfig);
  for (const SharedTensor& tensor :
       shared_tensors({flash.family, config, kDeclaredProblem, flash.limits})) {
    EXPECT_EQ(tensor.swizzle_bytes, 128) << tensor.name;
    EXPECT_EQ(tensor.panel_columns * tensor.element_bytes, 128) << tensor.name;
  }
  const LaunchGeometry launch = flash.launch(config, kDeclaredProblem);
  for (std::size_t i = 0; i < 4; ++i) {
    const TensorMapPiece& map = launch.arguments.list.at(i).tensor_maps.at(0);
    EXPECT_EQ(map.swizzle, "128b") << map.tensor;
    EXPECT_EQ(map.box.at(0), 64) << map.tensor;
  }
}

}  // namespace
}  // namespace fatune

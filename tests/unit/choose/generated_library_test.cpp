// Compiles the generated source and compares it with the families themselves.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/run_program.hpp"
#include "choose/library.hpp"
#include "choose/tuned_choice.hpp"
#include "choose/tuned_table.hpp"
#include "model/kernel_code.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "plan/planner.hpp"
#include "runtime/facts.hpp"
#include "runtime/launch_builder.hpp"
#include "unit/choose/sample_library.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;
namespace runtime = fatune_attention::detail;

constexpr std::uint64_t kQ = 0x10000000;  // the other tensors of problems follow
constexpr std::uint64_t kTensorBytes = 0x1000000;
constexpr std::uint64_t kWorkspace = 0x70000000;

fatune_attention::Device runtime_device(const DeviceLimits& limits) {
  fatune_attention::Device device;
  std::strncpy(static_cast<char*>(device.name), limits.name.c_str(), sizeof device.name - 1);
  device.arch = limits.arch.sm;
  device.sm_count = limits.sm_count;
  device.max_threads_per_block = limits.max_threads_per_block;
  device.max_threads_per_sm = limits.max_threads_per_sm;
  device.registers_per_sm = limits.registers_per_sm;
  device.smem_per_block_optin_bytes = limits.smem_per_block_optin_bytes;
  device.smem_per_sm_bytes = limits.smem_per_sm_bytes;
  return device;
}

/// The made-up address of a tensor of problems.
std::uint64_t address_of(std::string_view tensor) {
  const auto known = std::ranges::find(kProblemTensors, tensor);
  return kQ + static_cast<std::uint64_t>(known - kProblemTensors.begin()) * kTensorBytes;
}

/// Contiguous tensors of the problem's layout, at made-up addresses.
fatune_attention::Tensors tensors_of(const Problem& problem) {
  fatune_attention::Tensors tensors;
  fatune_attention::Tensor* all[] = {&tensors.q, &tensors.k, &tensors.v, &tensors.o};
  for (std::size_t i = 0; i < kTensorRoles.size(); ++i) {
    const TensorShape shape = tensor_shape(problem, kTensorRoles.at(i));
    *all[i] = {reinterpret_cast<void*>(kQ + i * kTensorBytes), shape.batch_stride,
               shape.head_stride, shape.row_stride};
  }
  tensors.lse = reinterpret_cast<float*>(kQ + 4 * kTensorBytes);
  const auto array = [](std::string_view name, bool is_there) {
    return is_there ? reinterpret_cast<const std::int32_t*>(address_of(name)) : nullptr;
  };
  tensors.seq_lens_kv =
      array(kKeyLengthsTensor, !problem.seq_lens_kv.empty() && !is_packed(problem));
  tensors.page_table = array(kPageTableTensor, has_pages(problem));
  tensors.cu_seqlens_q = array(kQueryStartsTensor, is_packed(problem));
  tensors.cu_seqlens_kv = array(kKeyStartsTensor, is_packed(problem));
  return tensors;
}

/// The stand-in for an encoded tensor map on both sides: a digest of all its numbers.
TensorMapBytes digest(const runtime::TensorMap& map, std::uint64_t address) {
  std::string text = fmt::format("{} {} {} {} {} {} {}:", address, map.element_type, map.dimensions,
                                 map.interleave, map.swizzle, map.l2_promotion, map.oob_fill);
  for (int i = 0; i < map.dimensions; ++i) {
    text += fmt::format(" {} {} {} {}", map.sizes[i], map.box[i], map.element_strides[i],
                        i + 1 < map.dimensions ? map.strides_bytes[i] : 0.0);
  }
  TensorMapBytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<std::uint8_t>(std::hash<std::string>()(text + char(i)));
  }
  return bytes;
}

const char* encode(const runtime::TensorMap& map, std::uint64_t address, void* bytes) {
  const TensorMapBytes made = digest(map, address);
  std::memcpy(bytes, made.data(), made.size());
  return nullptr;
}

TensorMapBytes encode_piece(const TensorMapPiece& piece, std::uint64_t address) {
  runtime::TensorMap map{};
  map.dimensions = static_cast<int>(piece.sizes.size());
  const auto copy = [](const std::vector<std::int64_t>& from, double* to) {
    std::ranges::copy(from, to);
  };
  copy(piece.sizes, static_cast<double*>(map.sizes));
  copy(piece.strides_bytes, static_cast<double*>(map.strides_bytes));
  copy(piece.box, static_cast<double*>(map.box));
  copy(piece.element_strides, static_cast<double*>(map.element_strides));
  map.element_type = static_cast<int>(index_of_name(kTensorMapElementTypes, piece.element_type));
  map.interleave = static_cast<int>(index_of_name(kTensorMapInterleaves, piece.interleave));
  map.swizzle = static_cast<int>(index_of_name(kTensorMapSwizzles, piece.swizzle));
  map.l2_promotion = static_cast<int>(index_of_name(kTensorMapL2Promotions, piece.l2_promotion));
  map.oob_fill = static_cast<int>(index_of_name(kTensorMapOobFills, piece.oob_fill));
  return digest(map, address);
}

/// Compiles the library's folder into a shared library, and loads it.
class GeneratedLibrary : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    families_ = std::make_unique<FamilySet>(samples::library_families());
    table_ = std::make_unique<TunedTable>(samples::library_table(*families_));
    library_ = std::make_unique<Library>(samples::library_of(*families_, *table_));
    folder_ = fs::path(testing::TempDir()) / fmt::format("generated_library.{}", getpid());
    for (const LibraryFile& file : cpp_library_files(*library_, FileTree())) {
      fs::create_directories((folder_ / file.path).parent_path());
      std::ofstream(folder_ / file.path, std::ios::binary) << file.bytes;
    }
    compile();
    handle_ = dlopen((folder_ / "library.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  static void TearDownTestSuite() {
    fs::remove_all(folder_);
    library_.reset();
    table_.reset();
    families_.reset();
  }

  static void compile() {
    std::vector<std::string> arguments{"-std=c++17",
                                       "-O0",
                                       "-Wall",
                                       "-Wextra",
                                       "-Wpedantic",
                                       "-Werror",
                                       "-shared",
                                       "-fPIC",
                                       "-I",
                                       (folder_ / "include/fatune_attention").string(),
                                       "-Wa,-I" + folder_.string(),
                                       "-o",
                                       (folder_ / "library.so").string()};
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "src")) {
      if (const fs::path extension = entry.path().extension();
          extension == ".cpp" || extension == ".S") {
        arguments.push_back(entry.path().string());
      }
    }
    static_cast<void>(run_program(FATUNE_CXX_COMPILER, arguments));
  }

  template <typename Symbol>
  static Symbol* symbol(const char* mangled) {
    void* const found = dlsym(handle_, mangled);
    EXPECT_NE(found, nullptr) << mangled;
    return reinterpret_cast<Symbol*>(found);
  }
  static const runtime::Table& generated() {
    return *symbol<const runtime::Table>("_ZN16fatune_attention6detail6kTableE");
  }

  static runtime::Facts facts(const Problem& problem, const DeviceLimits& device) {
    return runtime::facts_of(runtime_problem(problem), tensors_of(problem), runtime_device(device));
  }

  static std::unique_ptr<FamilySet> families_;
  static std::unique_ptr<TunedTable> table_;
  static std::unique_ptr<Library> library_;
  static fs::path folder_;
  static void* handle_;
};

std::unique_ptr<FamilySet> GeneratedLibrary::families_;
std::unique_ptr<TunedTable> GeneratedLibrary::table_;
std::unique_ptr<Library> GeneratedLibrary::library_;
fs::path GeneratedLibrary::folder_;
void* GeneratedLibrary::handle_ = nullptr;

using Extents = std::array<std::int64_t, 3>;

Extents extents(const runtime::Dim3& of) { return {of.x, of.y, of.z}; }

/// Gives fatune's own arguments the addresses that the builder has given its buffers.
ArgumentEncoder encoder(const Family& family, const runtime::LaunchBuilder& builder) {
  const auto address = [&](const std::string& tensor) -> std::uint64_t {
    const auto& buffers = family.arguments.buffers;
    if (is_among(tensor, kProblemTensors, std::identity{})) {
      return address_of(tensor);
    }
    const auto buffer = std::ranges::find(buffers, tensor, &BufferRule::name) - buffers.begin();
    return kWorkspace + builder.buffers().offset(static_cast<int>(buffer));
  };
  return {address, encode_piece};
}

void expect_same_launch(const Family& family, const LaunchGeometry& launch,
                        const runtime::LaunchBuilder& builder) {
  ASSERT_TRUE(builder.ok()) << builder.failure();
  EXPECT_EQ(extents(builder.shape().grid), launch.grid);
  EXPECT_EQ(extents(builder.shape().block), launch.block);
  EXPECT_EQ(extents(builder.shape().cluster), launch.cluster);
  EXPECT_EQ(builder.shape().dynamic_smem_bytes, launch.dynamic_smem_bytes);
  EXPECT_EQ(builder.shape().cooperative, launch.attributes.cooperative);
  EXPECT_EQ(builder.shape().smem_carveout_percent, launch.attributes.smem_carveout_percent);
  const auto bytes = pack_arguments(launch.arguments, encoder(family, builder));
  const auto& made = builder.arguments();
  EXPECT_EQ(std::vector<std::uint8_t>(made.data(), made.data() + made.bytes()), bytes);
  EXPECT_EQ(made.count(), static_cast<int>(launch.arguments.list.size()));
}

TEST_F(GeneratedLibrary, HasTheTablesItWasMadeOf) {
  const runtime::Table& table = generated();
  ASSERT_EQ(table.configurations.count, static_cast<int>(library_->configs.size()));
  EXPECT_EQ(table.kernels.count, static_cast<int>(library_->codes.size()));
  EXPECT_EQ(table.rows.count, static_cast<int>(table_->problems.size()));
  EXPECT_EQ(table.defaults.count, static_cast<int>(table_->defaults.size()));
  for (int i = 0; i < table.kernels.count; ++i) {
    const Artifact& artifact = *library_->codes[static_cast<std::size_t>(i)].artifact;
    EXPECT_EQ(table.kernels[i].entry, artifact.lowered_name);
    ASSERT_EQ(table.kernels[i].bytes, artifact.cubin.size());
    EXPECT_EQ(std::memcmp(table.kernels[i].cubin, artifact.cubin.data(), artifact.cubin.size()), 0);
  }
}

TEST_F(GeneratedLibrary, RefusesAndLaunchesAsTheFamiliesSay) {
  const DeviceLimits device = samples::h200();
  std::mt19937 engine(5);
  int launched = 0;
  int with_lengths = 0;
  int packed = 0;
  int paged = 0;
  int packed_in_pages = 0;
  int of_eight_bits = 0;
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = samples::any_problem(engine);
    const runtime::Facts f = facts(problem, device);
    const int index = i % generated().configurations.count;
    const runtime::Configuration& made = generated().configurations[index];
    const Config& config = library_->configs[static_cast<std::size_t>(index)].config;
    const Family& family = families_->of(config);
    const bool is_valid = !check_valid(family, config, &problem, &device);
    ASSERT_EQ(made.refusal(f) == nullptr, is_valid) << made.name << ' ' << describe(problem);
    if (!is_valid) {
      continue;
    }
    runtime::Addresses addresses{{}, kWorkspace};
    std::ranges::transform(kProblemTensors, std::begin(addresses.operands), address_of);
    runtime::LaunchBuilder builder(addresses, encode);
    made.launch(f, builder);
    expect_same_launch(family, launch_geometry({family, config, problem, device}), builder);
    ASSERT_FALSE(HasFailure()) << made.name << ' ' << describe(problem);
    ++launched;
    packed += is_packed(problem) ? 1 : 0;
    paged += has_pages(problem) ? 1 : 0;
    packed_in_pages += is_packed(problem) && has_pages(problem) ? 1 : 0;
    with_lengths += problem.seq_lens_kv.empty() || is_packed(problem) ? 0 : 1;
    of_eight_bits += has_scales(problem) ? 1 : 0;
  }
  EXPECT_GT(launched, 500);
  EXPECT_GT(with_lengths, 20);
  EXPECT_GT(packed, 20);
  EXPECT_GT(paged, 20);
  EXPECT_GT(packed_in_pages, 10);
  EXPECT_GT(of_eight_bits, 20);
}

// Heads are columns of flash_decode's tensor maps of pages, which are counted in 32 bits.
TEST_F(GeneratedLibrary, RefusesPagesWhoseHeadsAreTooFarApart) {
  int refused = 0;
  for (int i = 0; i < generated().configurations.count; ++i) {
    const Config& config = library_->configs[static_cast<std::size_t>(i)].config;
    Problem problem{2, 1, 8, 128, DType::bf16, false};
    problem.kv_heads = 2;
    problem.seq_len_kv = 4096;
    problem.page_size = 16;
    runtime::Facts f = facts(problem, samples::h200());
    const runtime::Configuration& made = generated().configurations[i];
    if (config.family != "flash_decode" || made.refusal(f) != nullptr) {
      continue;
    }
    f.v_head_stride = 2147483640;
    EXPECT_EQ(made.refusal(f), nullptr);
    f.v_head_stride = 2147483648;
    EXPECT_NE(made.refusal(f), nullptr) << made.name;
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

/// Says why a configuration cannot be used: its family refuses it, or its machine code was not
/// built.
ConfigRules as_in(const Library& library) {
  ConfigRules rules = families_say(library.families);
  rules.why_not = [&library, says = rules.why_not](
                      const Config& config, const Problem& problem,
                      const DeviceLimits& device) -> std::optional<std::string> {
    if (auto reason = says(config, problem, device)) {
      return reason;
    }
    const auto built = std::ranges::find(library.configs, config, &LibraryConfig::config);
    const auto key = kernel_key(library.families.of(config), config, problem, device);
    return is_among(key, built->kernels, &BuiltKernel::key)
               ? std::nullopt
               : std::optional<std::string>("its machine code was not built");
  };
  return rules;
}

TEST_F(GeneratedLibrary, SelectsWhatTheTableSays) {
  using Select = fatune_attention::Selection(const fatune_attention::Problem&,
                                             const fatune_attention::Tensors&,
                                             const fatune_attention::Device&);
  auto* const select =
      symbol<Select>("_ZN16fatune_attention6selectERKNS_7ProblemERKNS_7TensorsERKNS_6DeviceE");
  const DeviceLimits device = samples::h200();
  const ConfigRules rules = as_in(*library_);
  std::mt19937 engine(6);
  std::map<fatune_attention::Step, int> steps;
  int untuned = 0;
  int packed_in_pages = 0;
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = samples::any_problem(engine);
    const auto selection =
        select(runtime_problem(problem), tensors_of(problem), runtime_device(device));
    const TunedChoice choice = choose_tuned(*table_, problem, device, rules);
    ASSERT_EQ(selection.step, choice.step) << describe(problem) << ' ' << selection.reason;
    ASSERT_EQ(selection.config, choice.short_form) << describe(problem);
    ASSERT_EQ(selection.untuned.text, choice.untuned) << describe(problem);
    ASSERT_EQ(std::isnan(selection.regret_percent), !choice.row || !choice.untuned.empty() ||
                                                        !problem.seq_lens_kv.empty() ||
                                                        has_pages(problem));
    ASSERT_NEAR(selection.tuned_us, choice.predicted_us.value_or(selection.tuned_us),
                1e-9 * selection.tuned_us);
    untuned += choice.untuned.empty() ? 0 : 1;
    if (selection.configuration >= 0) {
      ASSERT_FALSE(rules.why_not(choice.config, problem, device));
      packed_in_pages += is_packed(problem) && has_pages(problem) ? 1 : 0;
    }
    ++steps[selection.step];
  }
  EXPECT_GT(steps[fatune_attention::Step::predicted], 100);
  EXPECT_GT(steps[fatune_attention::Step::neighbour_bucket], 20);
  EXPECT_GT(steps[fatune_attention::Step::fallback], 100);
  EXPECT_GT(steps[fatune_attention::Step::refused], 10);
  EXPECT_GT(packed_in_pages, 20);
  EXPECT_GT(untuned, 100);
  EXPECT_LT(untuned, 10000 - steps[fatune_attention::Step::refused]);
}

}  // namespace
}  // namespace fatune

#include "unit/runtime/sample_table.hpp"

#include <cstring>

#include "runtime/launch_builder.hpp"

namespace fatune_attention {
namespace {

using namespace detail;

/// The part of an ELF image that the fake driver reads.
struct Cubin {
  unsigned char bytes[128] = {0x7f, 'E', 'L', 'F'};
};

template <std::size_t kLength>
constexpr Cubin cubin_of(const char (&section)[kLength]) {
  constexpr std::size_t kSectionsOffset = 40;
  Cubin cubin;
  cubin.bytes[kSectionsOffset] = sizeof cubin.bytes;
  for (std::size_t i = 0; i < kLength; ++i) {
    cubin.bytes[64 + i] = static_cast<unsigned char>(section[i]);
  }
  return cubin;
}

constexpr Cubin kTmaCubin = cubin_of(".text.tma_kernel");
constexpr Cubin kPlainCubin = cubin_of(".text.plain_kernel");
constexpr Cubin kOtherCubin = cubin_of(".text.other_kernel");

constexpr MachineCode kKernels[] = {
    {kTmaCubin.bytes, sizeof kTmaCubin.bytes, "", 90, "tma_kernel", 168, 1024},
    {kPlainCubin.bytes, sizeof kPlainCubin.bytes, "", 90, "plain_kernel", 128, 0},
    {kPlainCubin.bytes, sizeof kPlainCubin.bytes, "", 80, "plain_kernel", 128, 0},
    {kOtherCubin.bytes, sizeof kOtherCubin.bytes, "", 90, "other_kernel", 128, 0}};

const char* only_128(const Facts& facts) {
  return facts.d_head == 128 ? nullptr : "the kernel is for d_head 128";
}

const char* lengths_refused(const Facts& facts) {
  return facts.has_seq_lens_kv == 0.0 ? nullptr : "its kernels take no lengths of keys";
}

const char* other_refused(const Facts& facts) {
  if (facts.dtype != static_cast<double>(DType::fp16)) {
    return "the kernel is for FP16";
  }
  return static_cast<std::int64_t>(facts.seq_len_kv) % 1024 == 1023 ? "it takes no such lengths"
                                                                    : nullptr;
}

int other_code(const Facts&) { return 3; }
int tma_code(const Facts&) { return 0; }
int plain_code(const Facts& facts) { return facts.arch >= 90 ? 1 : facts.arch >= 80 ? 2 : -1; }

void launch_tma(const Facts& facts, LaunchBuilder& builder) {
  builder.add(Call::grid, {2 * facts.heads, 1, facts.batch});
  builder.add(Call::block, {384, 1, 1});
  builder.add(Call::cluster, {2, 1, 1});
  builder.add(Call::dynamic_smem_bytes, {200'000});
  builder.workspace(4, 0, Clear::once);
  builder.workspace(1000, 7, Clear::before_launch);
  builder.add(Call::begin_argument);
  builder.add(Call::tensor_map,
              {0,
               9,
               0,
               3,
               3,
               0,  //
               facts.d_head,
               facts.seq_len,
               facts.heads,
               facts.batch,  //
               facts.q_row_stride * 2,
               facts.q_head_stride * 2,
               facts.q_batch_stride * 2,
               64,
               64,
               1,
               1,  //
               1,
               1,
               1,
               1},
              Operand::q);
  builder.add(Call::end_argument);
  builder.add(Call::begin_argument);
  builder.add(Call::begin_struct, {0});
  builder.add(Call::address, {0}, buffer(0));
  builder.add(Call::address, {0}, buffer(1));
  builder.add(Call::int32, {facts.seq_len});
  builder.add(Call::float32, {facts.softmax_scale});
  if (facts.has_seq_lens_kv != 0.0) {
    builder.add(Call::address, {0}, Operand::seq_lens_kv);
  } else {
    builder.add(Call::uint64, {0});
  }
  builder.add(Call::end_struct);
  builder.add(Call::end_argument);
}

void launch_standard(const Facts& facts, double smem_bytes, LaunchBuilder& builder) {
  builder.add(Call::grid, {facts.heads, facts.batch, 1});
  builder.add(Call::block, {128, 1, 1});
  builder.add(Call::dynamic_smem_bytes, {smem_bytes});
  builder.add(Call::begin_argument);
  builder.add(Call::begin_struct, {0});
  for (const Operand tensor : {Operand::q, Operand::k, Operand::v, Operand::o}) {
    builder.add(Call::address, {0}, tensor);
  }
  for (const double extent : {facts.batch, facts.seq_len, facts.heads}) {
    builder.add(Call::int32, {extent});
  }
  builder.add(Call::float32, {facts.softmax_scale});
  builder.add(Call::end_struct);
  builder.add(Call::end_argument);
}

void launch_plain(const Facts& facts, LaunchBuilder& builder) {
  launch_standard(facts, 65536, builder);
}

void launch_greedy(const Facts& facts, LaunchBuilder& builder) {
  launch_standard(facts, 300'000, builder);
}

void launch_other(const Facts& facts, LaunchBuilder& builder) {
  builder.workspace(1000, 0, Clear::before_launch);
  launch_standard(facts, 65536, builder);
}

/// One tile on one SM.
void take_clocks(double clocks, TimeModel& model) {
  model.launch_clocks = clocks;
  model.tile_clocks = 1.0;
  model.step_clocks = 1.0;
  model.schedule.sms = 1;
  model.schedule.heads = 1;
  model.schedule.list_rows(1);
  model.schedule.row_steps[0] = 1.0;
}
void time_plain(const Facts&, TimeModel& model) { take_clocks(1000.0, model); }
void time_other(const Facts&, TimeModel& model) { take_clocks(1050.0, model); }

constexpr Configuration kConfigurations[] = {
    {"(tma)", "toy", 90, true, false, only_128, tma_code, launch_tma, nullptr},
    {"(plain)", "toy", 80, false, true, lengths_refused, plain_code, launch_plain, time_plain},
    {"(greedy)", "toy", 80, false, false, lengths_refused, plain_code, launch_greedy, nullptr},
    {"(other)", "toy", 80, false, true, other_refused, other_code, launch_other, time_other}};

constexpr TunedGpu kGpus[] = {{"Fake H200", 90, 132}};

constexpr RowConfig kRowConfigs[] = {
    {kGreedy, 90.0, 0.0}, {kTma, 99.0, 10.0}, {kPlain, 180.0, 100.0}};

constexpr Problem kTuned{DType::bf16, 4, 16, 16, 4096, 4096, 128, 128, true, 0, 0.0F, false};

constexpr RowConfig kFp16RowConfigs[] = {{kPlain, 50.0, 0.0}, {kOther, 51.0, 2.0}};

constexpr Problem kFp16{DType::fp16, 4, 16, 16, 2048, 2048, 64, 64, false, 0, 0.0F, false};

constexpr Problem kFp16OneQuery{DType::fp16, 4, 16, 16, 1, 4096, 64, 64, false, 0, 0.0F, false};

const Row kRows[] = {{0, kTuned, false, kRowConfigs, 3},
                     {0, kFp16, false, kFp16RowConfigs, 2},
                     {0, kFp16OneQuery, false, kFp16RowConfigs, 2}};

constexpr Kind kFp16Kind{static_cast<int>(DType::fp16), 64, 64, 0, 0, 0, 0, 0};
constexpr Kind kFp16FewKind{static_cast<int>(DType::fp16), 64, 64, 0, 0, 1, 0, 0};
const Fit kFits[] = {{0, kFp16Kind, kPlain, {}},
                     {0, kFp16Kind, kOther, {}},
                     {0, kFp16FewKind, kPlain, {}},
                     {0, kFp16FewKind, kOther, {}}};
constexpr FitKey kFitKeys[] = {{-1, -1, -1}, {0, 0, 0}, {-1, -1, -1}, {1, 0, 0}};

constexpr Default kDefaults[] = {{0, DType::bf16, 128, 128, true, false, kTma},
                                 {0, DType::bf16, 128, 128, true, false, kPlain}};

}  // namespace

namespace detail {

const Table kTable = {{kKernels, 4},  {kConfigurations, 4}, {kGpus, 1},   {kRows, 3},
                      {kDefaults, 2}, {kFits, 4},           {kFitKeys, 4}};

}  // namespace detail

Problem tuned_problem() { return kTuned; }

Problem predicted_problem() {
  Problem problem = kFp16;
  problem.seq_len = problem.seq_len_kv = 2000;
  return problem;
}

Device fake_h200() {
  Device device;
  std::strcpy(device.name, "Fake H200");
  device.arch = 90;
  device.sm_count = 132;
  device.max_threads_per_block = 1024;
  device.max_threads_per_sm = 2048;
  device.registers_per_sm = 65536;
  device.smem_per_block_optin_bytes = 232448;
  device.smem_per_sm_bytes = 233472;
  return device;
}

}  // namespace fatune_attention

#include "unit/emulator/emulated_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune::emulate {
namespace {

std::vector<std::int64_t> lines_of(const PtxFunction& function, const Program& program) {
  std::vector<std::int64_t> lines;
  for (const std::size_t statement : program.statements) {
    lines.push_back(function.statements.at(statement).line);
  }
  return lines;
}

std::uint64_t add_output(GlobalMemory& memory, std::size_t bytes) {
  Allocation output;
  output.name = "out";
  output.bytes.resize(bytes);
  return memory.allocate(output);
}

std::uint64_t add_input(GlobalMemory& memory, const std::vector<std::uint8_t>& bytes) {
  Allocation input;
  input.name = "in";
  input.bytes = bytes;
  return memory.allocate(input);
}

}  // namespace

std::string kernel_text(const std::string& statements) {
  return ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<20>;\n"
         ".reg .b64 %w<20>; .reg .f64 %d<20>;\n"
         "ld.param.u64 %w0, [in];\nld.param.u64 %w1, [out];\n"
         "mov.u32 %r0, %tid.x;\nmad.wide.u32 %w2, %r0, 16, %w1;\n" +
         statements + "\n}\n";
}

Emulated emulate(const std::string& text, const Trial& trial) {
  const PtxModule module = parse_ptx(text, "test.ptx");
  const Program program = decode_program(module, "k", "test.ptx");
  GlobalMemory memory;
  const std::array<std::uint64_t, 2> addresses{add_input(memory, trial.input),
                                               add_output(memory, trial.output_bytes)};
  constexpr std::size_t kAlignment = 64;
  std::vector<std::uint8_t> parameters(trial.more_parameters.empty() ? sizeof(addresses)
                                                                     : kAlignment);
  std::memcpy(parameters.data(), addresses.data(), sizeof(addresses));
  parameters.insert(parameters.end(), trial.more_parameters.begin(), trial.more_parameters.end());
  LaunchSetup setup;
  setup.block = {trial.threads, 1, 1};
  setup.grid = {trial.blocks, 1, 1};
  setup.cluster = {trial.cluster, 1, 1};
  setup.resident_blocks = trial.resident_blocks;
  setup.dynamic_smem_bytes = trial.dynamic_smem_bytes;
  setup.parameters = parameters;
  setup.schedule = trial.schedule;
  setup.checks.both_ends = trial.both_ends;
  setup.most_warp_instructions = trial.most_warp_instructions;
  setup.limits = trial.limits;
  Emulated done;
  done.result = run_kernel(program, memory, setup);
  done.output = memory.at(addresses[1]).bytes;
  done.lines = lines_of(module.functions.at(0), program);
  return done;
}

std::vector<std::string> Emulated::findings() const {
  std::vector<std::string> texts;
  for (const Finding& finding : result.findings.all()) {
    texts.push_back(fmt::format("{} at line {} by thread {}: {}", emulate::name_of(finding.kind),
                                lines.at(finding.instruction), finding.thread, finding.text));
  }
  return texts;
}

std::uint64_t Emulated::stored(std::uint32_t thread) const {
  constexpr std::size_t kStride = 16;
  std::uint64_t value = 0;
  std::memcpy(&value, output.data() + kStride * thread, sizeof(value));
  return value;
}

std::uint64_t input_address() {
  GlobalMemory memory;
  return add_input(memory, {0});
}

std::vector<Schedule> all_schedules() {
  return {{Timing::early, 1},  {Timing::late, 1},   {Timing::random, 1}, {Timing::random, 2},
          {Timing::random, 3}, {Timing::random, 4}, {Timing::random, 5}};
}

std::string name_of(const Schedule& schedule) {
  constexpr std::array<const char*, 4> kNames{"early", "late", "random", "lagging"};
  return fmt::format("{} {}", kNames.at(static_cast<std::size_t>(schedule.timing)), schedule.seed);
}

std::int64_t marked_line(const std::string& text) {
  const std::size_t mark = text.find("// here");
  if (mark == std::string::npos) {
    throw std::logic_error("no line is marked");
  }
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n');
}

}  // namespace fatune::emulate

#include <optional>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "proof/emulated_launch.hpp"

// Tensor maps among a kernel's arguments that the emulator does not support.
namespace fatune {
namespace {

constexpr const char* kNothing =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128])\n{\nret;\n}\n";

TensorMapPiece map_of_q() {
  TensorMapPiece map;
  map.tensor = "q";
  map.element_type = "float32";
  map.sizes = {32, 8};
  map.strides_bytes = {128};
  map.box = {8, 8};
  map.element_strides = {1, 1};
  return map;
}

/// Returns why a launch with this map is refused, or nothing if it is not.
std::optional<std::string> why_refused(const TensorMapPiece& map) {
  const PtxModule module = parse_ptx(kNothing, "k");
  const emulate::Program program = emulate::decode_program(module, "k", "k");
  EmulatedLaunch launch;
  launch.on.problem = {1, 8, 1, 64, DType::fp16, false};
  launch.geometry.arguments.standard = false;
  KernelArgument argument;
  argument.bytes = kTensorMapArgumentBytes;
  argument.alignment = 64;
  argument.tensor_maps = {map};
  launch.geometry.arguments.list = {argument};
  EmulatedInputs inputs(1);
  try {
    const EmulatedOutput output =
        run_emulated(program, launch, inputs.random_tensors(launch.on.problem), {});
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TensorMapArguments, AreRefusedWhereTheyWouldBeCopiedOtherwise) {
  EXPECT_EQ(why_refused(map_of_q()), std::nullopt);
  for (const char* const type : {"float32_ftz", "tfloat32", "tfloat32_ftz"}) {
    TensorMapPiece map = map_of_q();
    map.element_type = type;
    EXPECT_THAT(why_refused(map).value_or("no"), testing::HasSubstr("copies that convert to"));
  }
  TensorMapPiece interleaved = map_of_q();
  interleaved.interleave = "16b";
  EXPECT_THAT(why_refused(interleaved).value_or("no"), testing::HasSubstr("interleaving"));
}

}  // namespace
}  // namespace fatune

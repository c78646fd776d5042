#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"
#include "fake_cuda/known_effects.hpp"

namespace fake_cuda {

/// The position of a kernel's parameter in the parameter buffer.
struct Parameter {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// A kernel as the emulator runs it.
struct EmulatedKernel {
  fatune::emulate::Program program;
  std::vector<Parameter> parameters;
};

struct FakeModule;

struct FakeFunction {
  std::string name;
  FakeModule* module = nullptr;
  int max_dynamic_smem = 48 * 1024;
  std::unique_ptr<EmulatedKernel> kernel;  ///< set by the first launch
  KnownEffects effects;

  /// Throws if the PTX is missing or not supported.
  [[nodiscard]] const EmulatedKernel& emulated();
};

struct FakeModule {
  std::string image;  ///< contains its section names: ".text.<kernel>"
  std::string ptx;    ///< empty: unknown
  std::vector<std::unique_ptr<FakeFunction>> functions;
  /// The values that launches have left in its variables, by name.
  std::map<std::string, std::vector<std::uint8_t>> variables;

  [[nodiscard]] bool has_kernel(const std::string& name) const {
    return image.find(".text." + name + '\0') != std::string::npos;
  }
};

struct Launch {
  FakeFunction* function = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned smem_bytes = 0;
  std::array<unsigned, 3> cluster{1, 1, 1};  ///< blocks
};

}  // namespace fake_cuda

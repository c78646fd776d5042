#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulate/program.hpp"
#include "ptx/module.hpp"

namespace fatune::emulate {

/// The places of a module's variables and a kernel's parameters.
struct Declarations {
  std::map<std::string, std::uint64_t, std::less<>> addresses;  ///< in their own space
  std::vector<ModuleVariable> variables;                        ///< global and constant
  std::set<std::string, std::less<>> call_parameters;  ///< of calls that the kernel makes: local
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_offset = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t parameter_bytes = 0;
  std::optional<std::array<std::uint32_t, 3>> cluster;  ///< Program::cluster
};

/// Reads the directives that declare variables. Error(bad_file) for one that is not understood.
[[nodiscard]] Declarations read_declarations(const PtxModule& module, const PtxFunction& function);

}  // namespace fatune::emulate

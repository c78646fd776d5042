#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "emulate/program.hpp"
#include "ptx/parse_ptx.hpp"

namespace fatune::emulate {

/// The addresses of a module's variables and a kernel's parameters.
struct Declarations : KernelNeeds {
  std::map<std::string, std::uint64_t, std::less<>> addresses;  ///< offsets in the variable's space
  std::set<std::string, std::less<>> call_parameters;           ///< these are in local memory
};

/// Reads the directives that declare variables. Throws Error(bad_file) for one that it does not
/// understand.
[[nodiscard]] Declarations read_declarations(const PtxModule& module, const PtxFunction& function);

}  // namespace fatune::emulate

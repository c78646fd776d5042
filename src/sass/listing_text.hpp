#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sass/listing.hpp"
#include "sass/opcode_class.hpp"

namespace fatune {

/// The classes that occur, with their numbers: "tensor 16, shared 3".
[[nodiscard]] std::string classes_text(const std::array<std::int64_t, kOpcodeClasses>& counts);

/// "@!P0 FADD R1, R2, R3".
[[nodiscard]] std::string instruction_text(const Instruction& instruction);

/// Assembly without addresses, encodings and unused labels, for comparison in an editor. Registers
/// stay as they are.
[[nodiscard]] std::string clean_text(const SassFunction& function);

/// The control-flow graph in Graphviz' language. The main loop's blocks are grey, those of other
/// loops lighter; edges back to a loop's header are bold.
[[nodiscard]] std::string graph_text(const SassFunction& function);

}  // namespace fatune

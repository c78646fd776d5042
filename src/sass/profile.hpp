#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sass/listing.hpp"
#include "sass/loop_place.hpp"
#include "sass/opcode_class.hpp"

namespace fatune {

/// The static number of instructions of one kind. Repeated execution does not count.
struct SassCount {
  std::int64_t total = 0;        ///< instructions of the function
  std::int64_t main_loop = 0;    ///< the part of `total` in its main loop, loops within it included
  std::int64_t conditional = 0;  ///< the part of `main_loop` that an iteration may skip
  std::int64_t producer_loop = 0;  ///< the part of `total` in its producer's loop, if it has one
};

/// Counts one more instruction, at the given place.
void add(SassCount& count, LoopPlace place, bool in_producer_loop = false);

struct OpcodeCount {
  std::string mnemonic;
  OpcodeClass which = OpcodeClass::unknown;
  SassCount count;
};

struct MainLoop {
  std::uint64_t first_address = 0;
  std::uint64_t last_address = 0;  ///< the last instruction's address
  int depth = 1;
  std::int64_t inner_loops = 0;
  std::int64_t calls = 0;  ///< calls of functions, whose instructions are not counted
  /// The FLOP of one warp in one iteration, with inner loops executed once. Nothing if an
  /// instruction's name does not say.
  std::optional<std::int64_t> tensor_flop;
};

/// The loop of a warp that loads data for other warps (producer_loop() of loops.hpp).
struct ProducerLoop {
  std::uint64_t first_address = 0;
  std::uint64_t last_address = 0;  ///< the last instruction's address
  int depth = 1;
  std::int64_t bulk_loads = 0;  ///< bulk copies to shared memory; one instruction starts each
};

/// The instruction counts of one function.
struct SassProfile {
  std::string function;
  std::string target;            ///< "sm_80"; may be empty
  std::optional<int> registers;  ///< registers of each thread, if known
  SassCount all;
  std::array<SassCount, kOpcodeClasses> classes;
  std::vector<OpcodeCount> opcodes;  ///< most frequent in the main loop first
  std::int64_t loops = 0;
  std::int64_t irreducible_edges = 0;
  std::optional<MainLoop> main_loop;          ///< absent: the function has no loop
  std::optional<ProducerLoop> producer_loop;  ///< absent: no warps are dedicated to loading

  [[nodiscard]] const SassCount& of(OpcodeClass which) const {
    return classes.at(static_cast<std::size_t>(which));
  }
};

[[nodiscard]] SassProfile profile_function(const Listing& listing, const SassFunction& function);

/// The opcodes that the table of classes does not have, each once.
[[nodiscard]] std::vector<std::string> unknown_opcodes(const SassProfile& profile);

}  // namespace fatune

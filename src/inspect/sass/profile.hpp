#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source_line.hpp"
#include "inspect/sass/listing.hpp"
#include "inspect/sass/loops.hpp"
#include "inspect/sass/opcode_class.hpp"

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

struct BeforeAfter {
  std::int64_t before = 0;
  std::int64_t after = 0;

  [[nodiscard]] std::int64_t delta() const { return after - before; }
  /// Returns nothing if there was none before.
  [[nodiscard]] std::optional<double> relative_percent() const {
    return before == 0
               ? std::nullopt
               : std::optional(100.0 * static_cast<double>(delta()) / static_cast<double>(before));
  }
};

struct CountChange {
  std::string what;  ///< a class, or an opcode with its modifiers
  BeforeAfter main_loop;
  BeforeAfter total;
};

/// The greatest change of the main loop comes first, then of the whole function. Classes and
/// opcodes that neither profile has are left out.
[[nodiscard]] std::vector<CountChange> class_changes(const SassProfile& a, const SassProfile& b);
[[nodiscard]] std::vector<CountChange> opcode_changes(const SassProfile& a, const SassProfile& b);

/// The instructions that the compiler made from one source line.
struct LineCount {
  SourceLine at;
  SassCount own;           ///< instructions that were written there
  SassCount with_inlined;  ///< these, and those of functions that were inlined there
  std::array<SassCount, kOpcodeClasses> classes;  ///< divides `own` into classes
};

struct LineCounts {
  /// The lines with the most instructions in the main loop come first (own ones, then inlined
  /// ones), then those with the most in the function.
  std::vector<LineCount> lines;
  SassCount all;
  SassCount without_line;  ///< the part whose source line the compiler does not give
};

/// Counts instructions by source line, as far as the listing has line information. An instruction
/// counts once for its own line, and once for each other line that it was inlined at.
[[nodiscard]] LineCounts count_lines(const Listing& listing, const SassFunction& function);

}  // namespace fatune

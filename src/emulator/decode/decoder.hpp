#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/decode/names.hpp"
#include "emulator/memory/clocks.hpp"
#include "emulator/program.hpp"

namespace fatune::emulate {

/// An address operand: "[%rd1+16]".
struct AddressOperand {
  Operand base;
  std::int64_t offset = 0;
  bool wide = false;  ///< the base has 64 bits
};

/// A statement being decoded into an instruction: its opcode in parts, its operands as text. For a
/// statement that an operation does not understand, throws Error(bad_file), which names the
/// statement and its line.
class Decoder {
 public:
  Decoder(std::string_view opcode, std::vector<std::string> operands, Names& known,
          std::string where);

  [[nodiscard]] const std::string& opcode() const { return opcode_; }
  /// The first part of the opcode: "mma" of mma.sync.aligned...
  [[nodiscard]] std::string_view name() const { return parts_.front(); }
  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] std::size_t part_count() const { return parts_.size(); }
  [[nodiscard]] std::string_view part(std::size_t index) const { return parts_.at(index); }
  /// The types among the modifiers, in order. type() is the last one, and throws if there is none.
  [[nodiscard]] const std::vector<ScalarType>& types() const { return types_; }
  [[nodiscard]] ScalarType type() const;
  /// The index of the first of these modifiers that the opcode has.
  [[nodiscard]] std::optional<std::size_t> one_of(
      std::initializer_list<std::string_view> modifiers) const;

  [[nodiscard]] Operand predicate_named(std::string_view name) const;
  [[nodiscard]] std::size_t operand_count() const { return operands_.size(); }
  [[nodiscard]] const std::string& operand(std::size_t index) const;
  [[nodiscard]] AddressOperand address(std::size_t index) const;
  /// The address in the text between the brackets.
  [[nodiscard]] AddressOperand address_named(std::string_view text) const;
  /// The parts of "[%rd1, {%r1, %r2}]": "%rd1" and "{%r1, %r2}".
  [[nodiscard]] std::vector<std::string> bracketed(std::size_t index) const;
  /// The values of "{%r1, %r2}", or of one register.
  [[nodiscard]] std::vector<Operand> values_named(std::string_view text, ScalarType type) const;
  /// True if the first register of an operand has 64 bits. Loads and stores may use registers wider
  /// than their type.
  [[nodiscard]] bool is_wide(std::size_t index) const;
  [[nodiscard]] std::int64_t immediate(std::size_t index) const;
  /// An immediate value from 0 to `most`. `what` describes it in errors.
  [[nodiscard]] std::uint32_t count(std::size_t index, std::int64_t most,
                                    std::string_view what) const;
  /// "%r1" and "%p1" of "%r1|%p1". The second is empty if it is missing.
  [[nodiscard]] std::pair<std::string_view, std::string_view> pair(std::size_t index) const;
  /// The positions of the labels of a .branchtargets list. The operand is the list's name.
  [[nodiscard]] std::vector<std::int32_t> branch_targets(std::size_t index) const;
  /// Sets result.target to the position of this operand's label.
  void branch_target(std::size_t index);

  /// Throws Error(bad_file): this opcode, or this use of it, is not covered.
  [[noreturn]] void unsupported(std::string_view what = "") const;
  [[noreturn]] void malformed(std::string_view what) const;
  void unsupported_if(bool holds, std::string_view what = "") const {
    if (holds) {
      unsupported(what);
    }
  }
  void malformed_if(bool holds, std::string_view what) const {
    if (holds) {
      malformed(what);
    }
  }

  Names& names;
  Instruction result;
  std::vector<Operand> result_operands;

  /// Sets the handler, and the number that it interprets.
  template <typename Variant = std::uint32_t>
  Decoder& handle(Handler handler, Variant variant = {}) {
    result.handler = handler;
    result.variant = static_cast<std::uint32_t>(variant);
    return *this;
  }
  /// Adds a destination: a writable register. "_" is a register that is never read.
  Decoder& to(std::size_t index, ScalarType type) { return to(operand(index), type); }
  Decoder& to(std::string_view name, ScalarType type);
  /// Adds a register, an immediate value of that type, or the address of a variable.
  Decoder& from(std::size_t index, ScalarType type) { return add(value_of(operand(index), type)); }
  /// Adds an address. See add_address.
  Decoder& at(std::size_t index) { return add_address(address(index)); }
  /// Adds a predicate that the instruction sets.
  Decoder& sets(std::size_t index) { return sets(operand(index)); }
  Decoder& sets(std::string_view name) { return add(predicate_named(name)); }
  /// The same, or kNowhere for "_" or an empty name.
  Decoder& may_set(std::string_view name);
  /// Adds a predicate that the instruction reads: "%p1", "!%p1", or an immediate value. See
  /// condition_of().
  Decoder& asks(std::size_t index);
  /// Adds the destinations or values of "{%r1, %r2}", of which there must be `count`.
  Decoder& to_all(std::size_t index, ScalarType type, std::size_t count,
                  std::string_view what = "wrong number of registers");
  Decoder& from_all(std::size_t index, ScalarType type, std::size_t count,
                    std::string_view what = "wrong number of registers");
  /// Decodes an instruction that sets its first operand from the next ones, which have types
  /// `types`.
  Decoder& use(Handler handler, ScalarType type, std::initializer_list<ScalarType> types);

  Decoder& add(Operand operand) {
    result_operands.push_back(operand);
    return *this;
  }
  /// Adds two operands: the base and the offset. See Execution::address.
  Decoder& add_address(const AddressOperand& address) {
    return add(address.base).add(names.constant(static_cast<std::uint64_t>(address.offset), true));
  }
  /// Makes the lanes that the operand at `members` names execute the instruction together.
  void gather(std::uint8_t members) {
    result.flow = Flow::gather;
    result.members = members;
  }
  void gather_all() {
    result.flow = Flow::gather;
    result.all_members = true;
  }
  /// Makes lanes wait until the condition holds.
  void await(Condition until, Awaited awaited) {
    result.condition = until;
    result.awaited = awaited;
    result.flow = Flow::poll;
    result.waits = awaited != Awaited::mbarrier;
  }
  Decoder& add(const std::vector<Operand>& operands) {
    result_operands.insert(result_operands.end(), operands.begin(), operands.end());
    return *this;
  }

 private:
  [[nodiscard]] Operand value_of(std::string_view text, ScalarType type) const;
  [[nodiscard]] Operand register_named(std::string_view name, ScalarType type) const;
  [[nodiscard]] std::int32_t position_of(const std::string& label) const;

  std::string opcode_;
  std::vector<std::string_view> parts_;
  std::vector<ScalarType> types_;
  std::vector<std::string> operands_;
  std::string where_;
};

/// The memory order of a strong access, from its modifiers.
[[nodiscard]] MemoryOrder order_of(const Decoder& d);

/// Fills in the decoder's result. Each first part of an opcode has one: see operations.hpp.
using Operation = void (*)(Decoder&);

}  // namespace fatune::emulate

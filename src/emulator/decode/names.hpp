#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program.hpp"
#include "emulator/ptx/parse_ptx.hpp"

namespace fatune::emulate {

/// The fundamental types of PTX (ISA 9.0, section 5.2) that operations name.
enum class ScalarType : std::uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  e4m3,
  e4m3x2,
  e5m2,
  e5m2x2,
};

/// The type with a name such as "u32". Empty for other names.
[[nodiscard]] std::optional<ScalarType> scalar_type(std::string_view name);

/// The bytes of a value in memory; 0 for a predicate.
[[nodiscard]] int size_of(ScalarType type);
[[nodiscard]] bool is_signed(ScalarType type);
[[nodiscard]] bool is_integer(ScalarType type);
[[nodiscard]] bool is_float(ScalarType type);
/// True for f16, f16x2, bf16, bf16x2.
[[nodiscard]] bool is_half(ScalarType type);

/// The bits of a PTX constant as a value of the type: "-16", "0x1f", "0U", "0b101", "0f3F800000"
/// (the bits of a float), "0d3FF0000000000000", "1.5". Empty if the text is not a constant.
[[nodiscard]] std::optional<std::uint64_t> literal_bits(std::string_view text, ScalarType type);

/// The addresses of a module's variables and a kernel's parameters.
struct Declarations : KernelNeeds {
  std::map<std::string, std::uint64_t, std::less<>> addresses;  ///< offsets in the variable's space
  std::set<std::string, std::less<>> call_parameters;           ///< these are in local memory
};

/// Reads the directives that declare variables. Throws Error(bad_file) for one that it does not
/// understand.
[[nodiscard]] Declarations read_declarations(const PtxModule& module, const PtxFunction& function);

/// Assigns locations to the registers, immediates and symbols of a function.
class Names {
 public:
  Names(const PtxFunction& function, const Declarations& declarations);

  /// Sets the statement in which names are looked up. A name may mean different registers in
  /// different scopes of the function.
  void enter(const PtxStatement& statement) { statement_ = &statement; }

  struct Register {
    Operand operand;
    ScalarType type;
    bool read_only = false;
  };
  /// A register of the statement, or a special register; null: there is none of that name.
  [[nodiscard]] const Register* find_register(std::string_view name) const;
  /// The register with this index into the function's registers.
  [[nodiscard]] const Register& register_at(std::size_t index) const { return registers_[index]; }
  /// A register without a name, for results that are discarded.
  [[nodiscard]] Operand unread();
  /// The predicate that holds carries.
  [[nodiscard]] Operand carry();
  /// A constant with the same bits in all lanes.
  [[nodiscard]] Operand constant(std::uint64_t bits, bool wide);
  /// The address of a variable or a parameter; null: there is none of that name.
  [[nodiscard]] const std::uint64_t* find_symbol(std::string_view name) const;
  /// The address, in local memory, of a parameter that the function passes to another one.
  [[nodiscard]] std::optional<std::uint64_t> find_call_parameter(std::string_view name) const;
  /// The labels of a list that .branchtargets declares; empty: there is none of that name.
  [[nodiscard]] std::vector<std::string> branch_targets(std::string_view name) const;
  /// The instruction that a label stands before; -1: there is none of that name.
  [[nodiscard]] std::int32_t find_label(std::string_view name) const;

  [[nodiscard]] std::uint32_t register_bytes() const { return register_bytes_; }
  [[nodiscard]] std::uint32_t predicates() const { return predicates_; }
  [[nodiscard]] std::uint32_t special_registers() const { return special_offset_; }
  [[nodiscard]] LaneStorage constants() const;

 private:
  void add_special_registers();
  void add_register(std::string_view type);

  const PtxFunction& function_;
  const Declarations& declarations_;
  const PtxStatement* statement_ = nullptr;
  std::vector<Register> registers_;  ///< indexed like the function's registers
  std::map<std::string, Register, std::less<>> special_;
  std::map<std::string, std::int32_t, std::less<>> labels_;
  struct Constant {
    std::uint64_t bits;
    bool wide;
    auto operator<=>(const Constant&) const = default;
  };
  std::map<Constant, std::uint32_t> constants_;
  std::uint32_t constant_bytes_ = 0;
  std::optional<Operand> unread_;
  std::optional<Operand> carry_;
  std::uint32_t register_bytes_ = 0;
  std::uint32_t predicates_ = 0;
  std::uint32_t special_offset_ = 0;
};

}  // namespace fatune::emulate

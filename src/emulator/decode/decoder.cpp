#include "emulator/decode/decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune::emulate {
namespace {

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (!opcode.empty()) {
    // "shared::cta" and "L2::128B" are one part each.
    parts.push_back(take_until(opcode, '.'));
  }
  return parts;
}

std::string_view without(std::string_view text, char open, char close) {
  return text.size() >= 2 && text.front() == open && text.back() == close
             ? text.substr(1, text.size() - 2)
             : text;
}

}  // namespace

Decoder::Decoder(std::string_view opcode, std::vector<std::string> operands, Names& known,
                 std::string where)
    : names(known),
      opcode_(opcode),
      parts_(parts_of(opcode_)),
      operands_(std::move(operands)),
      where_(std::move(where)) {
  if (parts_.empty()) {
    malformed("the opcode is missing");
  }
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (const auto type = scalar_type(parts_[i])) {
      types_.push_back(*type);
    }
  }
}

bool Decoder::has(std::string_view modifier) const {
  return std::any_of(parts_.begin() + 1, parts_.end(), [&](std::string_view part) {
    // ".shared::cta" counts as ".shared".
    return part == modifier ||
           (part.starts_with(modifier) && part.substr(modifier.size()) == "::cta");
  });
}

ScalarType Decoder::type() const {
  if (types_.empty()) {
    malformed("the type is missing");
  }
  return types_.back();
}

std::optional<std::size_t> Decoder::one_of(
    std::initializer_list<std::string_view> modifiers) const {
  std::size_t index = 0;
  for (const std::string_view modifier : modifiers) {
    if (has(modifier)) {
      return index;
    }
    ++index;
  }
  return std::nullopt;
}

void Decoder::unsupported(std::string_view what) const {
  throw Error(ExitCode::bad_file,
              fmt::format("'{}' is not covered by the emulator{}{}", opcode_,
                          what.empty() ? "" : ": ", what),
              where_, "docs/emulate.md lists what is covered");
}

void Decoder::malformed(std::string_view what) const {
  throw Error(ExitCode::bad_file, fmt::format("'{}': {}", opcode_, what), where_);
}

const std::string& Decoder::operand(std::size_t index) const {
  if (index >= operands_.size()) {
    malformed("an operand is missing");
  }
  return operands_[index];
}

Operand Decoder::register_named(std::string_view name, ScalarType type) const {
  const Names::Register* const found = names.find_register(name);
  if (found == nullptr || found->type == ScalarType::pred) {
    malformed(fmt::format("there is no register '{}'", name));
  }
  if ((size_of(found->type) == 8) != (size_of(type) == 8)) {
    malformed(fmt::format("register '{}' has a different width", name));
  }
  return found->operand;
}

Decoder& Decoder::to(std::string_view name, ScalarType type) {
  if (name == "_") {
    return add(names.unread());
  }
  const Names::Register* const found = names.find_register(name);
  if (found != nullptr && found->read_only) {
    malformed(fmt::format("'{}' cannot be written", name));
  }
  return add(register_named(name, type));
}

Decoder& Decoder::to_all(std::size_t index, ScalarType type, std::size_t count,
                         std::string_view what) {
  const std::vector<std::string> destinations = split_operands(without(operand(index), '{', '}'));
  malformed_if(destinations.size() != count, what);
  for (const std::string& name : destinations) {
    to(name, type);
  }
  return *this;
}

Decoder& Decoder::from_all(std::size_t index, ScalarType type, std::size_t count,
                           std::string_view what) {
  const std::vector<Operand> operands = values_named(operand(index), type);
  malformed_if(operands.size() != count, what);
  return add(operands);
}

Decoder& Decoder::use(Handler handler, ScalarType type, std::initializer_list<ScalarType> types) {
  result.handler = handler;
  to(0, type);
  std::size_t index = 1;
  for (const ScalarType one : types) {
    from(index++, one);
  }
  return *this;
}

Operand Decoder::predicate_named(std::string_view name) const {
  const Names::Register* const found = names.find_register(name);
  if (found == nullptr || found->type != ScalarType::pred) {
    malformed(fmt::format("there is no predicate '{}'", name));
  }
  return found->operand;
}

Decoder& Decoder::may_set(std::string_view name) {
  return name.empty() || name == "_" ? add({kNowhere, false}) : sets(name);
}

std::pair<std::string_view, std::string_view> Decoder::pair(std::size_t index) const {
  std::string_view second = operand(index);
  const std::string_view first = take_until(second, '|');
  return {trim(first), trim(second)};
}

Operand Decoder::value_of(std::string_view text, ScalarType type) const {
  const bool wide = size_of(type) == 8;
  if (names.find_register(text) != nullptr) {
    return register_named(text, type);
  }
  if (const auto bits = literal_bits(text, type)) {
    const int bytes = size_of(type);
    const std::uint64_t mask =
        bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
    return names.constant(*bits & mask, wide);
  }
  if (const std::uint64_t* const address = names.find_symbol(text)) {
    return names.constant(*address, wide);
  }
  malformed(fmt::format("'{}' is neither a register nor a constant nor a variable", text));
}

Decoder& Decoder::asks(std::size_t index) {
  const std::string_view text = operand(index);
  if (const auto bits = literal_bits(text, ScalarType::pred)) {
    return add({*bits != 0 ? 1U : 0U, true});
  }
  const bool negated = text.starts_with('!');
  Operand condition = predicate_named(trim(text.substr(negated ? 1 : 0)));
  condition.negated = negated;
  return add(condition);
}

std::vector<Operand> Decoder::values_named(std::string_view all, ScalarType type) const {
  return mapped(split_operands(without(all, '{', '}')),
                [&](const std::string& text) { return value_of(text, type); });
}

bool Decoder::is_wide(std::size_t index) const {
  for (const std::string& text : split_operands(without(operand(index), '{', '}'))) {
    if (const Names::Register* const found = names.find_register(text)) {
      return size_of(found->type) == 8;
    }
  }
  return false;
}

std::int64_t Decoder::immediate(std::size_t index) const {
  const auto bits = literal_bits(operand(index), ScalarType::s64);
  if (!bits) {
    malformed(fmt::format("'{}' is not a constant", operand(index)));
  }
  return static_cast<std::int64_t>(*bits);
}

std::uint32_t Decoder::count(std::size_t index, std::int64_t most, std::string_view what) const {
  const std::int64_t value = immediate(index);
  malformed_if(value < 0 || value > most, what);
  return static_cast<std::uint32_t>(value);
}

AddressOperand Decoder::address(std::size_t index) const {
  return address_named(without(operand(index), '[', ']'));
}

std::vector<std::string> Decoder::bracketed(std::size_t index) const {
  return split_operands(without(operand(index), '[', ']'));
}

AddressOperand Decoder::address_named(std::string_view all) const {
  const std::size_t plus = all.find('+');
  const std::string_view base = trim(all.substr(0, plus));
  AddressOperand address;
  if (plus != std::string_view::npos) {
    const auto offset = literal_bits(trim(all.substr(plus + 1)), ScalarType::s64);
    if (!offset) {
      malformed(fmt::format("wrong address '{}'", all));
    }
    address.offset = static_cast<std::int64_t>(*offset);
  }
  const Names::Register* const found = names.find_register(base);
  address.wide = found == nullptr || size_of(found->type) == 8;
  address.base = value_of(base, address.wide ? ScalarType::b64 : ScalarType::b32);
  address.base.wide = address.wide;
  return address;
}

std::vector<std::int32_t> Decoder::branch_targets(std::size_t index) const {
  const std::vector<std::string> labels = names.branch_targets(operand(index));
  if (labels.empty()) {
    malformed(fmt::format("there is no list of targets '{}'", operand(index)));
  }
  return mapped(labels, [&](const std::string& label) { return position_of(label); });
}

void Decoder::branch_target(std::size_t index) { result.target = position_of(operand(index)); }

std::int32_t Decoder::position_of(const std::string& label) const {
  const std::int32_t position = names.find_label(label);
  if (position < 0) {
    malformed(fmt::format("there is no label '{}'", label));
  }
  return position;
}

MemoryOrder order_of(const Decoder& d) {
  return {d.one_of({"acquire", "acq_rel"}).has_value(),
          d.one_of({"release", "acq_rel"}).has_value()};
}

}  // namespace fatune::emulate

#include "emulator/decode/names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kNarrowBytes = kLanes * 4;
constexpr std::uint32_t kWideBytes = kLanes * 8;
// The most register bytes of a warp. NVRTC names a new register for every value, so long kernels
// name some ten thousand.
constexpr std::uint32_t kMostRegisterBytes = std::uint32_t{1} << 26U;

}  // namespace

Names::Names(const PtxFunction& function, const Declarations& declarations)
    : function_(function), declarations_(declarations) {
  for (const std::string& type : function.register_types) {
    add_register(type);
  }
  add_special_registers();
  for (std::size_t i = 0; i < function.statements.size(); ++i) {
    for (const std::string& label : function.statements[i].labels) {
      labels_[label] = static_cast<std::int32_t>(i);
    }
  }
  for (const std::string& label : function.end_labels) {
    labels_[label] = static_cast<std::int32_t>(function.statements.size());
  }
}

void Names::add_register(std::string_view type) {
  const auto known = scalar_type(type);
  if (!known || size_of(*known) > 8) {
    throw Error(ExitCode::bad_file, fmt::format("a register of type '{}' is not covered", type),
                function_.name);
  }
  if (*known == ScalarType::pred) {
    registers_.push_back({{predicates_++, false}, *known});
    return;
  }
  if (register_bytes_ >= kMostRegisterBytes) {
    throw Error(ExitCode::bad_file, "more registers than are covered", function_.name);
  }
  registers_.push_back({{register_bytes_, false}, *known});
  register_bytes_ += size_of(*known) == 8 ? kWideBytes : kNarrowBytes;
}

void Names::add_special_registers() {
  special_offset_ = register_bytes_;
  const auto add = [&](const std::string& name) {
    special_[name] = {{register_bytes_, false}, ScalarType::u32, true};
    register_bytes_ += kNarrowBytes;
  };
  for (const std::string_view name : kSpecialTriples) {
    for (const char axis : {'x', 'y', 'z'}) {
      add(fmt::format("%{}.{}", name, axis));
    }
  }
  for (const std::string_view name : kSpecialSingles) {
    add(fmt::format("%{}", name));
  }
}

const Names::Register* Names::find_register(std::string_view name) const {
  for (const auto* indices : {&statement_->writes, &statement_->reads}) {
    for (const std::size_t index : *indices) {
      if (function_.registers[index] == name) {
        return &registers_[index];
      }
    }
  }
  const auto special = special_.find(name);
  return special == special_.end() ? nullptr : &special->second;
}

Operand Names::unread() {
  if (!unread_) {
    unread_ = Operand{register_bytes_, false};
    register_bytes_ += kWideBytes;
  }
  return *unread_;
}

Operand Names::carry() {
  if (!carry_) {
    carry_ = Operand{predicates_++, false};
  }
  return *carry_;
}

Operand Names::constant(std::uint64_t bits, bool wide) {
  const auto [found, is_new] = constants_.try_emplace(Constant{bits, wide}, constant_bytes_);
  if (is_new) {
    constant_bytes_ += wide ? kWideBytes : kNarrowBytes;
  }
  return {found->second, true};
}

const std::uint64_t* Names::find_symbol(std::string_view name) const {
  const auto found = declarations_.addresses.find(name);
  return found == declarations_.addresses.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> Names::find_call_parameter(std::string_view name) const {
  const bool known = declarations_.call_parameters.contains(name);
  const std::uint64_t* const address = find_symbol(name);
  return known && address != nullptr ? std::optional(*address) : std::nullopt;
}

std::vector<std::string> Names::branch_targets(std::string_view name) const {
  const auto found = function_.branch_targets.find(name);
  return found == function_.branch_targets.end() ? std::vector<std::string>() : found->second;
}

std::int32_t Names::find_label(std::string_view name) const {
  const auto found = labels_.find(name);
  return found == labels_.end() ? -1 : found->second;
}

LaneStorage Names::constants() const {
  LaneStorage storage(constant_bytes_);
  for (const auto& [constant, offset] : constants_) {
    if (constant.wide) {
      std::fill_n(storage.at<std::uint64_t>(offset), kLanes, constant.bits);
    } else {
      std::fill_n(storage.at<std::uint32_t>(offset), kLanes,
                  static_cast<std::uint32_t>(constant.bits));
    }
  }
  return storage;
}

}  // namespace fatune::emulate

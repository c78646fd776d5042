#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text_parts.hpp"
#include "emulator/memory/memory_access.hpp"
#include "emulator/operations/operations.hpp"

// brx.idx, and calls of functions that the system provides, CUDA's printf and assert: PTX ISA 9.0,
// section 9.7.12. Most operands are places: the address of a parameter in local memory, or the
// target of a branch.
namespace fatune::emulate {
namespace {

using enum ScalarType;

Operand place(std::uint64_t offset) { return {static_cast<std::uint32_t>(offset), true}; }

/// Operands: the index, and the target for each index. Lanes with another target than the one where
/// the group continues become groups of their own.
void branch_by_index(const Step& step) {
  std::vector<Group>& groups = step.warp.groups;
  const auto* const index = step.words(0);
  const auto own = static_cast<std::size_t>(
      std::ranges::find_if(groups,
                           [&](const Group& group) { return (group.mask & step.mask) != 0; }) -
      groups.begin());
  Mask mask = step.mask;
  while (mask != 0) {
    const std::uint32_t chosen = index[std::countr_zero(mask)];
    const Mask together = lanes_where(mask, [&](int lane) { return index[lane] == chosen; });
    mask &= ~together;
    if (chosen >= step.instruction.variant) {
      step.x.end_by_trap();
      step.report(FindingKind::trap, std::countr_zero(together), [&] {
        return fmt::format("branches to target {} of {}", chosen, step.instruction.variant);
      });
      return;
    }
    const auto target = static_cast<std::int32_t>(step.operand(1 + chosen).offset);
    if (together == groups[own].mask) {
      groups[own].pc = target - 1;  // the caller still advances the pc by one
    } else {
      groups[own].mask &= ~together;
      groups.push_back({target, together, Group::State::runnable, 0});
    }
  }
}

void decode_brx(Decoder& d) {
  d.unsupported_if(!d.has("idx"), "this form");
  const std::vector<std::int32_t> targets = d.branch_targets(1);
  d.handle(&branch_by_index, targets.size()).from(0, u32);
  for (const std::int32_t target : targets) {
    d.add(place(static_cast<std::uint64_t>(target)));
  }
}

constexpr std::size_t kLongestText = 4096;
constexpr int kWidest = 1000;  ///< width of a field

/// Memory as one lane reads it through generic addresses. An invalid access is a finding and reads
/// 0.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Actor& by) : by_(by) {}

  /// A value of 1 to 8 bytes.
  [[nodiscard]] std::uint64_t value(std::uint64_t address, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    read_memory(by_, {Space::generic, address, bytes, bytes}, &value);
    return value;
  }
  /// The text up to the first 0, but at most kLongestText characters.
  [[nodiscard]] std::string text(std::uint64_t address) const {
    std::string text;
    while (text.size() < kLongestText) {
      const auto c = static_cast<char>(value(address + text.size(), 1));
      if (c == '\0') {
        break;
      }
      text += c;
    }
    by_.x.launch.text_bytes += text.size();
    if (by_.x.launch.text_bytes > by_.x.setup.limits.text_bytes) {
      by_.x.end_at_limit("bytes of text for printf", by_.x.setup.limits.text_bytes);
    }
    return text;
  }
  /// True if a limit has ended the launch.
  [[nodiscard]] bool is_exhausted() const { return by_.x.trapped; }

 private:
  const Actor& by_;
};

struct FormattedText {
  std::string text;
  std::int32_t arguments = 0;  ///< number of arguments that the format takes
};

/// The parts of a conversion such as "%-8.3lld".
struct Specification {
  std::string flags;
  int width = 0;
  int precision = -1;
  bool is_long = false;
  char conversion = 0;
};

/// Formats text: CUDA C++ Programming Guide, "Formatted Output". The compiler has put the arguments
/// one after another, each at a multiple of its size: 8 bytes for long integers, pointers and
/// floating-point numbers, else 4.
class Formatter {
 public:
  Formatter(const DeviceMemory& memory, std::uint64_t format, std::uint64_t arguments)
      : memory_(memory), format_(memory.text(format)), next_(arguments) {}

  FormattedText run() {
    while (at_ < format_.size() && !memory_.is_exhausted()) {
      const std::size_t percent = std::min(format_.find('%', at_), format_.size());
      result_.text += format_.substr(at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size()) {
        convert();
      }
    }
    return std::move(result_);
  }

 private:
  void convert() {
    const std::size_t begin = at_++;
    if (current() == '%') {
      result_.text += '%';
      ++at_;
      return;
    }
    const Specification specification = read();
    if (std::string_view("diuoxXcsfFeEgGaAp").find(specification.conversion) ==
        std::string_view::npos) {
      result_.text += format_.substr(begin, at_ - begin);
      return;
    }
    ++result_.arguments;
    append(specification);
  }

  [[nodiscard]] char current() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  [[nodiscard]] bool is_among_any(std::string_view characters) const {
    return current() != '\0' && characters.find(current()) != std::string_view::npos;
  }

  Specification read() {
    Specification s;
    for (; is_among_any("-+ #0"); ++at_) {
      s.flags += current();
    }
    s.width = read_number();
    if (s.width < 0) {  // a negative width from "*" means left-aligned
      s.flags += '-';
      s.width = -s.width;
    }
    if (current() == '.') {
      ++at_;
      s.precision = read_number();
    }
    for (; is_among_any("hlLzjt"); ++at_) {
      s.is_long = s.is_long || current() != 'h';
    }
    s.conversion = current();
    at_ += s.conversion != '\0' ? 1 : 0;
    return s;
  }

  int read_number() {
    if (current() == '*') {
      ++at_;
      ++result_.arguments;
      return std::clamp(static_cast<std::int32_t>(argument(4)), -kWidest, kWidest);
    }
    int value = 0;
    for (; current() >= '0' && current() <= '9'; ++at_) {
      value = std::min(kWidest, value * 10 + (current() - '0'));
    }
    return value;
  }

  std::uint64_t argument(std::uint32_t bytes) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    const std::uint64_t value = memory_.value(next_, bytes);
    next_ += bytes;
    return value;
  }

  void append(const Specification& s) {
    switch (s.conversion) {
      case 's':
        return print(s, "s", memory_.text(argument(8)).c_str());
      case 'c':
        return print(s, "c", static_cast<int>(static_cast<unsigned char>(argument(4))));
      case 'p':
        return print(s, "p", std::bit_cast<void*>(argument(8)));
      case 'd':
      case 'i':
        return print(s, "lld",
                     s.is_long ? static_cast<long long>(argument(8))
                               : static_cast<long long>(static_cast<std::int32_t>(argument(4))));
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return print(s, std::string("ll") + s.conversion,
                     static_cast<unsigned long long>(argument(s.is_long ? 8 : 4)));
      default:
        return print(s, std::string(1, s.conversion), std::bit_cast<double>(argument(8)));
    }
  }

  template <typename T>
  void print(const Specification& s, const std::string& conversion, T value) {
    std::string format = "%" + s.flags + (s.width > 0 ? std::to_string(s.width) : "");
    format += s.precision >= 0 ? "." + std::to_string(s.precision) : "";
    format += conversion;
    std::array<char, kLongestText + kWidest + 1> buffer{};
    // The format is made of parts that were checked, for a value of this type.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
#pragma GCC diagnostic pop
    result_.text.append(buffer.data(),
                        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(length, 0)), 0,
                                                buffer.size() - 1));
  }

  const DeviceMemory& memory_;
  std::string format_;
  std::uint64_t next_;
  std::size_t at_ = 0;
  FormattedText result_;
};

/// Appends to the launch's output, which LaunchSetup::limits bounds.
void print_on_host(Execution& x, const std::string& text) {
  std::string& printed = x.result.printed;
  const std::size_t most = x.setup.limits.printed_bytes;
  const std::size_t room = most - std::min(most, printed.size());
  printed += text.substr(0, room);
  if (text.size() > room) {
    x.end_at_limit("bytes of printf's output", most);
  }
}

template <typename T>
T read_local(const Actor& by, std::size_t parameter) {
  T value{};
  read_memory(by, {Space::local, by.operand(parameter).offset, sizeof(T), sizeof(T)}, &value);
  return value;
}

/// Operands: the places of the result (or kNowhere), of the format and of the arguments.
void print(const Actor& by) {
  if (by.x.trapped) {
    return;  // a limit is met
  }
  const DeviceMemory memory(by);
  const auto format = read_local<std::uint64_t>(by, 1);
  const FormattedText text = Formatter(memory, format, read_local<std::uint64_t>(by, 2)).run();
  print_on_host(by.x, text.text);
  if (by.operand(0).offset != kNowhere) {
    write_memory(by, {Space::local, by.operand(0).offset, 4, 4}, &text.arguments);
  }
}

/// Operands: message, file, line, function.
void fail_assertion(const Step& step) {
  const Actor by = step.by(step.first());
  const DeviceMemory memory(by);
  const auto text = [&](std::size_t parameter) {
    return memory.text(read_local<std::uint64_t>(by, parameter));
  };
  std::string where = fmt::format("{}:{}: {}: assertion `{}` failed", text(1),
                                  read_local<std::uint32_t>(by, 2), text(3), text(0));
  step.x.end_by_trap();
  by.report(FindingKind::assertion, [&] { return where; });
}

/// The places of the parameters in "(param0, param1)", of which there must be `least`.
std::vector<Operand> places_of(const Decoder& d, std::string_view list, std::size_t least = 0) {
  std::vector<Operand> places;
  d.unsupported_if(list.size() < 2 || list.front() != '(' || list.back() != ')', "this form");
  for (const std::string& name : split_operands(list.substr(1, list.size() - 2))) {
    const auto parameter = d.names.find_call_parameter(name);
    if (!parameter) {
      d.malformed(fmt::format("there is no parameter '{}'", name));
    }
    places.push_back(place(*parameter));
  }
  d.malformed_if(places.size() < least, "wrong number of parameters");
  return places;
}

void decode_call(Decoder& d) {
  const bool returns = d.operand(0).starts_with('(');
  const std::string& callee = d.operand(returns ? 1 : 0);
  const std::size_t list = returns ? 2 : 1;
  if (callee == "vprintf") {
    const std::vector<Operand> places = places_of(d, d.operand(list), 2);
    const std::vector<Operand> result =
        returns ? places_of(d, d.operand(0)) : std::vector<Operand>();
    d.handle(&Step::each<&print>);
    d.add(result.empty() ? Operand{kNowhere, true} : result.front()).add(places);
  } else if (callee == "__assertfail") {
    d.handle(&fail_assertion).add(places_of(d, d.operand(list), 4));
  } else {
    d.unsupported(fmt::format("a call of '{}'", callee));
  }
}

}  // namespace

Operations call_operations() { return {{"brx", decode_brx}, {"call", decode_call}}; }

}  // namespace fatune::emulate

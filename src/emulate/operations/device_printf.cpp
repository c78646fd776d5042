#include "emulate/operations/device_printf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <string_view>

#include "emulate/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr int kWidest = 1000;  ///< width of a field

/// The parts of a conversion such as "%-8.3lld".
struct Specification {
  std::string flags;
  int width = 0;
  int precision = -1;
  bool is_long = false;
  char conversion = 0;
};

class Formatter {
 public:
  Formatter(const DeviceMemory& memory, std::string format, std::uint64_t arguments)
      : memory_(memory), format_(std::move(format)), next_(arguments) {}

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

  Specification read() {
    Specification s;
    for (; current() != '\0' && std::string_view("-+ #0").find(current()) != std::string_view::npos;
         ++at_) {
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
    for (;
         current() != '\0' && std::string_view("hlLzjt").find(current()) != std::string_view::npos;
         ++at_) {
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

}  // namespace

std::uint64_t DeviceMemory::value(std::uint64_t address, std::uint32_t bytes) const {
  std::uint64_t value = 0;
  read_memory(by_, {Space::generic, address, bytes, bytes}, &value);
  return value;
}

std::string DeviceMemory::text(std::uint64_t address) const {
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

FormattedText format_text(const DeviceMemory& memory, std::uint64_t format,
                          std::uint64_t arguments) {
  return Formatter(memory, memory.text(format), arguments).run();
}

void print_on_host(Execution& x, const std::string& text) {
  std::string& printed = x.result.printed;
  const std::size_t most = x.setup.limits.printed_bytes;
  const std::size_t room = most - std::min(most, printed.size());
  printed += text.substr(0, room);
  if (text.size() > room) {
    x.end_at_limit("bytes of printf's output", most);
  }
}

}  // namespace fatune::emulate

#include "sass/parse_listing.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostInstructions = 2'000'000;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Takes what stands before `separator` off the front of `text`, and the separator.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// What stands between the first `open` and the next `close` after it; empty without them.
std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t at = text.find(open);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + open.size());
  const std::size_t end = text.find(close);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

template <typename Integer>
std::optional<Integer> whole_number(std::string_view text, int base = 10) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// "R4, [R2+0x10], c[0x0][0x160]" at its outer commas.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '[' || c == '(' || c == '{' ? 1 : 0;
    depth -= c == ']' || c == ')' || c == '}' ? 1 : 0;
    if (i == text.size() || (c == ',' && depth <= 0)) {
      const std::string_view operand = trim(text.substr(from, i - from));
      if (!operand.empty()) {
        operands.emplace_back(operand);
      }
      from = i + 1;
    }
  }
  return operands;
}

/// Newer versions append how an instruction is scheduled: " &req={0} ?WAIT2_END_GROUP".
std::string_view without_schedule(std::string_view text) {
  return text.substr(0, std::min(text.find(" &"), text.find(" ?")));
}

void add_targets(std::string_view annotation, Instruction& instruction) {
  for (const std::string& operand : instruction.operands) {
    const std::string_view target = between(operand, "`(", ")");
    if (!target.empty()) {
      instruction.targets.emplace_back(target);
    }
  }
  std::string_view list = between(annotation, "BRANCH_TARGETS ", "\"");
  while (!list.empty()) {
    instruction.targets.emplace_back(trim(take_until(list, ',')));
  }
}

bool is_branch_to_itself(const Instruction& instruction) {
  return instruction.opcode() == "BRA" && instruction.guard.empty() &&
         std::any_of(instruction.labels.begin(), instruction.labels.end(), [&](const auto& label) {
           return instruction.targets == std::vector<std::string>{label};
         });
}

/// A section ends with a branch to itself and NOPs up to its alignment: nothing gets there.
void drop_padding(std::vector<Instruction>& instructions) {
  std::size_t end = instructions.size();
  while (end > 0 && instructions[end - 1].opcode() == "NOP") {
    --end;
  }
  if (end > 0 && is_branch_to_itself(instructions[end - 1])) {
    instructions.resize(end - 1);
  }
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

  Listing parse() {
    while (!rest_.empty()) {
      ++line_number_;
      read_line(take_until(rest_, '\n'));
    }
    finish_section();
    std::erase_if(listing_.functions,
                  [](const SassFunction& function) { return function.instructions.empty(); });
    if (listing_.functions.empty()) {
      throw Error(ExitCode::bad_file, "there is no machine code in this listing", origin_,
                  "expected is what 'nvdisasm -c' prints of a cubin");
    }
    return std::move(listing_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, fmt::format("{}, line {}", origin_, line_number_),
                "expected is what 'nvdisasm -c' prints of a cubin");
  }

  void read_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      fail("this is no text");
    }
    const bool indented = !line.empty() && kBlanks.find(line.front()) != std::string_view::npos;
    line = trim(line);
    if (line.starts_with("//##")) {
      read_source_line(line);
    } else if (line.starts_with(".sectioninfo")) {
      registers_ = whole_number<int>(between(line, "SHI_REGISTERS=", "\""));
    } else if (line.starts_with(".section") || line.starts_with("//-----")) {
      begin_section(line);
    } else if (line.starts_with(".target")) {
      listing_.target = trim(line.substr(std::string_view(".target").size()));
    } else if (in_code_ && !indented && line.ends_with(':')) {
      read_label(line.substr(0, line.size() - 1));
    } else if (in_code_ && line.starts_with("/*")) {
      read_instruction(line);
    } else if (in_code_ && !line.empty() && !line.starts_with('.') && !line.starts_with("//") &&
               line != "{" && line != "}") {
      fail("this is neither an instruction nor a directive");
    }
  }

  void begin_section(std::string_view line) {
    if (!line.starts_with(".section")) {
      finish_section();  // a headline
      return;
    }
    line.remove_prefix(std::string_view(".section").size());
    finish_section();
    section_ = trim(line.substr(0, line.find(',')));
    in_code_ = section_.starts_with(".text");
  }

  void finish_section() {
    if (in_code_ && !listing_.functions.empty() && listing_.functions.back().section == section_) {
      drop_padding(listing_.functions.back().instructions);
    }
    in_code_ = false;
    registers_.reset();
    labels_.clear();
    source_file_.clear();
    source_line_ = 0;
    address_.reset();
  }

  void read_source_line(std::string_view line) {
    source_file_ = between(line, "File \"", "\"");
    std::string_view number = between(line, ", line ", " ");
    if (number.empty()) {
      const std::size_t at = line.rfind(' ');
      number = line.substr(at == std::string_view::npos ? line.size() : at + 1);
    }
    source_line_ = whole_number<std::int64_t>(number).value_or(0);
  }

  void read_label(std::string_view label) {
    if (label.empty()) {
      fail("a label without a name");
    }
    if (label.starts_with(".text")) {
      return;  // the section's own
    }
    if (label.starts_with(".L")) {
      labels_.emplace_back(label);
    } else {
      begin_function(label);
    }
  }

  void begin_function(std::string_view name) {
    SassFunction& function = listing_.functions.emplace_back();
    function.name = name;
    function.section = section_;
    function.registers = registers_;
  }

  SassFunction& current_function() {
    if (listing_.functions.empty() || listing_.functions.back().section != section_) {
      const std::string_view name(section_);
      begin_function(name.substr(std::min(name.size(), std::string_view(".text.").size())));
    }
    return listing_.functions.back();
  }

  void read_instruction(std::string_view line) {
    line.remove_prefix(std::string_view("/*").size());
    const std::size_t end = line.find("*/");
    if (end == std::string_view::npos) {
      fail("cut off within an address");
    }
    const std::string_view number = line.substr(0, end);
    if (number.starts_with(' ')) {
      return;  // the second half of an encoding
    }
    add_instruction(read_address(number), trim(line.substr(end + 2)));
  }

  std::uint64_t read_address(std::string_view number) {
    const auto address = whole_number<std::uint64_t>(number, 16);
    if (!address) {
      fail(fmt::format("'{}' is no address", number));
    }
    if (address_ && *address <= *address_) {
      fail("the addresses do not ascend");
    }
    address_ = address;
    return *address;
  }

  void add_instruction(std::uint64_t address, std::string_view text) {
    const std::size_t end = text.find(';');
    if (end == std::string_view::npos) {
      fail("an instruction without its ';': the listing is cut off");
    }
    if (++count_ > kMostInstructions) {
      fail(fmt::format("more than {} instructions", kMostInstructions));
    }
    text = text.substr(0, end);
    const std::string_view annotation = between(text, "(*", "*)");
    text = trim(without_schedule(text.substr(0, text.find("(*"))));
    Instruction instruction;
    instruction.address = address;
    instruction.labels = std::exchange(labels_, {});
    instruction.source_file = source_file_;
    instruction.source_line = source_line_;
    read_words(text, instruction);
    add_targets(annotation, instruction);
    current_function().instructions.push_back(std::move(instruction));
  }

  void read_words(std::string_view text, Instruction& instruction) const {
    if (text.starts_with('{')) {
      text = trim(text.substr(1));  // one of a pair that is issued together
    }
    if (text.starts_with('@')) {
      instruction.guard = take_until(text, ' ').substr(1);
      text = trim(text);
    }
    instruction.mnemonic = take_until(text, ' ');
    if (instruction.mnemonic.empty() || instruction.mnemonic.front() < 'A' ||
        instruction.mnemonic.front() > 'Z') {
      fail(fmt::format("'{}' is no instruction", instruction.mnemonic));
    }
    instruction.operands = split_operands(text);
  }

  std::string_view rest_;
  const std::string& origin_;
  std::int64_t line_number_ = 0;
  std::size_t count_ = 0;
  Listing listing_;
  // Of the section:
  std::string section_;
  bool in_code_ = false;
  std::optional<int> registers_;
  std::optional<std::uint64_t> address_;
  std::vector<std::string> labels_;  ///< seen since the last instruction
  std::string source_file_;
  std::int64_t source_line_ = 0;
};

}  // namespace

Listing parse_listing(std::string_view text, const std::string& origin) {
  return Parser(text, origin).parse();
}

}  // namespace fatune

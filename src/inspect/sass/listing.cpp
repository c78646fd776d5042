#include "inspect/sass/listing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostInstructions = 2'000'000;
constexpr std::size_t kDeepestInlining = 1000;
/// The name that nvdisasm gives lines of the PTX. The cubin has the PTX in a section of that name.
constexpr std::string_view kPtxText = ".nv_debug_ptx_txt";

/// Removes the scheduling that newer versions append: " &req={0} ?WAIT2_END_GROUP".
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
         std::ranges::any_of(instruction.labels, [&](const auto& label) {
           return instruction.targets == std::vector<std::string>{label};
         });
}

/// Removes the end of a section that is never reached: a branch to itself and NOPs for alignment.
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
                  "expected the output of 'nvdisasm -c' for a cubin");
    }
    return std::move(listing_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, fmt::format("{}, line {}", origin_, line_number_),
                "expected the output of 'nvdisasm -c' for a cubin");
  }

  void read_line(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) {
      fail("this is not text");
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
    chain_.clear();
    chain_open_ = false;
    place_.reset();
    ptx_line_ = 0;
    address_.reset();
  }

  /// Reads `//## File "a.cuh", line 3 inlined at "b.cu", line 7`, which the line of b.cu follows.
  void read_source_line(std::string_view line) {
    const std::string_view file = between(line, "File \"", "\"");
    std::string_view rest = line.substr(std::min(line.size(), line.find(", line ")));
    rest.remove_prefix(std::min(rest.size(), std::string_view(", line ").size()));
    const bool inlined = rest.find(" inlined at ") != std::string_view::npos;
    const auto number = whole_number<std::int64_t>(take_until(rest, ' ')).value_or(0);
    if (file.starts_with(kPtxText)) {
      ptx_line_ = number;
      return;
    }
    if (!std::exchange(chain_open_, inlined)) {
      chain_.clear();
    }
    if (number > 0 && chain_.size() < kDeepestInlining) {
      chain_.push_back({std::string(file), number});
    }
    place_.reset();
  }

  std::size_t current_place() {
    if (!place_) {
      const auto [found, is_new] = places_.try_emplace(chain_, listing_.places.size());
      if (is_new) {
        listing_.places.push_back(chain_);
      }
      place_ = found->second;
    }
    return *place_;
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
      fail(fmt::format("'{}' is not an address", number));
    }
    if (address_ && *address <= *address_) {
      fail("the addresses are not in ascending order");
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
    instruction.place = current_place();
    instruction.ptx_line = ptx_line_;
    chain_open_ = false;
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
      fail(fmt::format("'{}' is not an instruction", instruction.mnemonic));
    }
    instruction.operands = split_operands(text);
  }

  std::string_view rest_;
  const std::string& origin_;
  std::int64_t line_number_ = 0;
  std::size_t count_ = 0;
  Listing listing_;
  std::map<SourceChain, std::size_t> places_{{{}, 0}};
  // State of the section:
  std::string section_;
  bool in_code_ = false;
  std::optional<int> registers_;
  std::optional<std::uint64_t> address_;
  std::vector<std::string> labels_;  ///< seen since the last instruction
  SourceChain chain_;
  bool chain_open_ = false;           ///< the last line said that more of the chain follow
  std::optional<std::size_t> place_;  ///< the place of chain_, once an instruction needs it
  std::int64_t ptx_line_ = 0;
};

}  // namespace

Listing parse_listing(std::string_view text, const std::string& origin) {
  return Parser(text, origin).parse();
}

}  // namespace fatune

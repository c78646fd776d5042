#include "emulator/decode/names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

// The address of the first variable, far below the allocations of GlobalMemory.
constexpr std::uint64_t kFirstVariable = 0x7e00'0000'0000;
constexpr std::uint64_t kMostSharedBytes = 232448;  ///< a block's limit on compute capability 9.0
constexpr std::uint64_t kMostLocalBytes = std::uint64_t{512} * 1024;
constexpr std::uint64_t kMostParameterBytes = 32764;
// The limit for all variables of a module together. Marks of accesses may take 20 times as much
// memory.
constexpr std::uint64_t kMostVariableBytes = std::uint64_t{32} << 20U;
/// No declaration within these limits has more.
constexpr std::uint64_t kMostElements = kMostVariableBytes;

/// A declaration, such as ".shared .align 16 .b8 tile[4096]".
struct Declaration {
  std::string space;  ///< "shared"
  ScalarType type = ScalarType::b8;
  std::uint64_t alignment = 1;
  std::string name;
  std::uint64_t elements = 1;
  bool unsized = false;  ///< "[]"
  std::string value;

  [[nodiscard]] std::uint64_t bytes() const {
    return elements * static_cast<std::uint64_t>(size_of(type));
  }
};

[[noreturn]] void fail(std::string_view text) {
  throw Error(ExitCode::bad_file, "this declaration is not covered", std::string(text));
}

[[noreturn]] void fail_size(std::string_view text) {
  throw Error(ExitCode::bad_file, "this declaration is too large to be emulated", std::string(text),
              fmt::format("at most {} bytes", kMostVariableBytes));
}

std::uint64_t number(std::string_view text, std::string_view all) {
  const auto value = whole_number<std::uint64_t>(text);
  if (!value) {
    fail(all);
  }
  if (*value > kMostElements) {
    fail_size(all);
  }
  return *value;
}

void read_extent(std::string_view name, Declaration& declaration, std::string_view all) {
  const std::size_t open = name.find('[');
  declaration.name = std::string(trim(name.substr(0, open)));
  for (std::size_t at = open; at != std::string_view::npos; at = name.find('[', at + 1)) {
    const std::size_t close = name.find(']', at);
    if (close == std::string_view::npos) {
      fail(all);
    }
    const std::string_view extent = trim(name.substr(at + 1, close - at - 1));
    declaration.unsized = extent.empty();
    declaration.elements *= extent.empty() ? 0 : number(extent, all);
    if (declaration.elements > kMostElements) {
      fail_size(all);
    }
  }
}

Declaration read_declaration(std::string_view all) {
  Declaration declaration;
  std::string_view text = all;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    declaration.value = std::string(trim(text.substr(equals + 1)));
    text = trim(text.substr(0, equals));
  }
  bool has_type = false;
  bool pointee = false;  // words after ".ptr" describe what the parameter points to
  while (text.starts_with('.')) {
    const std::string_view word = take_until(text, ' ').substr(1);
    text = trim(text);
    if (word == "align") {
      const std::uint64_t alignment = number(take_until(text, ' '), all);
      declaration.alignment = pointee ? declaration.alignment : alignment;
      text = trim(text);
    } else if (const auto type = scalar_type(word)) {
      declaration.type = *type;
      has_type = true;
    } else if (word == "global" || word == "const" || word == "shared" || word == "local" ||
               word == "param") {
      declaration.space = pointee ? declaration.space : word;
    } else if (word == "ptr") {
      pointee = true;
    } else if (word != "visible" && word != "extern" && word != "weak" && word != "common" &&
               word != "managed") {
      fail(all);
    }
  }
  if (!has_type || declaration.alignment == 0) {
    fail(all);
  }
  declaration.alignment = std::max<std::uint64_t>(
      declaration.alignment, static_cast<std::uint64_t>(std::max(1, size_of(declaration.type))));
  read_extent(text, declaration, all);
  return declaration;
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The bytes of an initial value, such as "{1, 2, 3}" or "0f3FB8AA3B".
std::vector<std::uint8_t> initial_bytes(const Declaration& declaration) {
  std::vector<std::uint8_t> bytes(declaration.bytes());
  std::string_view text = declaration.value;
  if (text.starts_with('{') && text.ends_with('}')) {
    text = text.substr(1, text.size() - 2);
  }
  const auto element = static_cast<std::size_t>(size_of(declaration.type));
  std::size_t at = 0;
  for (const std::string& item : split_operands(text)) {
    const auto bits = literal_bits(item, declaration.type);
    if (!bits || at + element > bytes.size()) {
      fail(declaration.name + " = " + declaration.value);
    }
    for (std::size_t i = 0; i < element; ++i) {
      bytes[at + i] = static_cast<std::uint8_t>(*bits >> (8 * i));
    }
    at += element;
  }
  return bytes;
}

class Layout {
 public:
  void add(const Declaration& declaration) {
    if (declaration.space == "shared") {
      add_shared(declaration);
    } else if (declaration.space == "local") {
      result_.addresses[declaration.name] = place(local_, declaration, kMostLocalBytes);
    } else if (declaration.space == "param") {
      result_.addresses[declaration.name] = place(parameters_, declaration, kMostParameterBytes);
    } else {
      add_variable(declaration);
    }
  }

  /// Adds a parameter of a call. Scopes of the kernel may use one name for several parameters. They
  /// share the space of the largest.
  void add_call_parameter(const Declaration& declaration) {
    result_.call_parameters.insert(declaration.name);
    std::uint64_t& bytes = call_parameter_bytes_[declaration.name];
    if (declaration.bytes() > bytes) {
      bytes = declaration.bytes();
      result_.addresses[declaration.name] = place(local_, declaration, kMostLocalBytes);
    }
  }

  Declarations finish() {
    result_.static_shared_bytes = static_cast<std::uint32_t>(shared_);
    result_.dynamic_shared_offset =
        static_cast<std::uint32_t>(round_up(shared_, dynamic_alignment_));
    for (const std::string& name : dynamic_) {
      result_.addresses[name] = kSharedBase + result_.dynamic_shared_offset;
    }
    result_.local_bytes = static_cast<std::uint32_t>(local_);
    result_.parameter_bytes = static_cast<std::uint32_t>(parameters_);
    return std::move(result_);
  }

 private:
  static std::uint64_t place(std::uint64_t& used, const Declaration& declaration,
                             std::uint64_t most_bytes) {
    const std::uint64_t address = round_up(used, declaration.alignment);
    used = address + declaration.bytes();
    if (used > most_bytes) {
      throw Error(
          ExitCode::bad_file,
          fmt::format("{} .{} bytes are more than can be emulated", used, declaration.space),
          declaration.name, fmt::format("at most {} bytes", most_bytes));
    }
    return address;
  }

  void add_shared(const Declaration& declaration) {
    if (declaration.unsized) {
      dynamic_.push_back(declaration.name);
      dynamic_alignment_ = std::max(dynamic_alignment_, declaration.alignment);
      if (dynamic_alignment_ > kMostSharedBytes) {
        fail(declaration.name);
      }
    } else {
      result_.addresses[declaration.name] =
          kSharedBase + place(shared_, declaration, kMostSharedBytes);
    }
  }

  void add_variable(const Declaration& declaration) {
    const std::uint64_t address =
        kFirstVariable + place(variables_, declaration, kMostVariableBytes);
    result_.addresses[declaration.name] = address;
    result_.variables.push_back({declaration.name, address, initial_bytes(declaration)});
  }

  Declarations result_;
  std::uint64_t shared_ = 0;
  std::uint64_t local_ = 0;
  std::uint64_t parameters_ = 0;
  std::uint64_t variables_ = 0;
  std::map<std::string, std::uint64_t> call_parameter_bytes_;
  std::vector<std::string> dynamic_;
  std::uint64_t dynamic_alignment_ = 16;
};

std::uint32_t cluster_extent(const std::string& text) {
  constexpr std::uint64_t kMostBlocks = 16;
  const auto blocks = literal_bits(text, ScalarType::u32);
  if (!blocks || *blocks < 1 || *blocks > kMostBlocks) {
    throw Error(ExitCode::bad_file, fmt::format("'{}' is not an extent of a cluster", text),
                ".reqnctapercluster", fmt::format("it takes 1 to {} blocks", kMostBlocks));
  }
  return static_cast<std::uint32_t>(*blocks);
}

/// Reads ".reqnctapercluster 2, 1, 1" after the parameters. The last two extents may be absent.
std::optional<std::array<std::uint32_t, 3>> cluster_of(std::string_view header) {
  constexpr std::string_view kDirective = ".reqnctapercluster ";
  const std::size_t at = header.find(kDirective);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  header.remove_prefix(at + kDirective.size());
  const std::vector<std::string> extents = split_operands(header.substr(0, header.find('.')));
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  for (std::size_t i = 0; i < std::min(extents.size(), cluster.size()); ++i) {
    cluster[i] = cluster_extent(extents[i]);
  }
  return cluster;
}

}  // namespace

Declarations read_declarations(const PtxModule& module, const PtxFunction& function) {
  Layout layout;
  for (const std::string& text : split_operands(between(function.header, "(", ")"))) {
    layout.add(read_declaration(text));
  }
  for (const std::string& text : module.declarations) {
    layout.add(read_declaration(text));
  }
  for (const std::string& text : function.declarations) {
    const Declaration declaration = read_declaration(text);
    declaration.space == "param" ? layout.add_call_parameter(declaration) : layout.add(declaration);
  }
  Declarations declarations = layout.finish();
  declarations.cluster = cluster_of(function.header);
  return declarations;
}

}  // namespace fatune::emulate

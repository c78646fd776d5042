#include "conformance/case.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "conformance/rows.hpp"

namespace fatune::conformance {
namespace {

/// One expansion of a row: the choices made so far, and the text with these choices inserted.
struct Reading {
  std::string text;
  std::vector<std::string> chosen;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<Reading> readings(const std::string& text) {
  std::vector<Reading> done;
  std::vector<Reading> open{{text, {}}};
  while (!open.empty()) {
    const Reading reading = open.back();
    open.pop_back();
    const std::size_t begin = reading.text.find('<');
    if (begin == std::string::npos) {
      done.push_back(reading);
      continue;
    }
    const std::size_t end = reading.text.find('>', begin);
    std::vector<std::string> choices =
        split(std::string_view(reading.text).substr(begin + 1, end - begin - 1), '|');
    std::reverse(choices.begin(), choices.end());  // the last one inserted is taken next
    for (const std::string& choice : choices) {
      Reading next = reading;
      next.text.replace(begin, end - begin + 1, choice);
      next.chosen.push_back(choice);
      open.push_back(std::move(next));
    }
  }
  return done;
}

std::string filled_in(std::string text, const std::vector<std::string>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string name = fmt::format("${}", i + 1);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), chosen[i]);
    }
  }
  return text;
}

std::vector<Kind> kinds_of(const std::string& names) {
  std::vector<Kind> kinds;
  for (const std::string& name : split(names, ' ')) {
    if (!name.empty()) {
      kinds.push_back(kind_of(name));
    }
  }
  return kinds;
}

/// Completes an opcode such as "add.u32" to a statement with its results and operands, in order.
std::string statement(const std::string& text, std::size_t results, std::size_t operands) {
  if (text.find(' ') != std::string::npos) {
    return text;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < results; ++i) {
    names.push_back(fmt::format("%d{}", i));
  }
  for (std::size_t i = 0; i < operands; ++i) {
    names.push_back(fmt::format("%s{}", i));
  }
  return fmt::format("{} {}", text, fmt::join(names, ", "));
}

}  // namespace

std::size_t recorded_bytes(const Kind& kind) {
  switch (kind.storage) {
    case Storage::pred:
      return 1;
    case Storage::b16:
      return 2;
    case Storage::b32:
      return 4;
    case Storage::b64:
      break;
  }
  return 8;
}

Kind kind_of(std::string_view name) {
  using enum Storage;
  static const std::map<std::string_view, Kind> kinds{
      {"pred", {pred, Domain::truth}},
      {"u8", {b16, Domain::bits}},
      {"s8", {b16, Domain::bits}},
      {"b16", {b16, Domain::bits}},
      {"u16", {b16, Domain::bits}},
      {"s16", {b16, Domain::bits}},
      {"b32", {b32, Domain::bits}},
      {"u32", {b32, Domain::bits}},
      {"s32", {b32, Domain::bits}},
      {"b64", {b64, Domain::bits}},
      {"u64", {b64, Domain::bits}},
      {"s64", {b64, Domain::bits}},
      {"f16", {b16, Domain::half}},
      {"f16x2", {b32, Domain::half}},
      {"bf16", {b16, Domain::bfloat}},
      {"bf16x2", {b32, Domain::bfloat}},
      {"f32", {b32, Domain::single}},
      {"tf32", {b32, Domain::single}},
      {"f64", {b64, Domain::real}},
      {"e4m3x2", {b16, Domain::fp8}},
      {"e5m2x2", {b16, Domain::fp8}},
      // Types of twice the width.
      {"wide_u16", {b32, Domain::bits}},
      {"wide_s16", {b32, Domain::bits}},
      {"wide_u32", {b64, Domain::bits}},
      {"wide_s32", {b64, Domain::bits}},
      // Numbers near 1.
      {"near_f16x2", {b32, Domain::half, Range::near}},
      {"near_bf16x2", {b32, Domain::bfloat, Range::near}},
      {"near_f32", {b32, Domain::single, Range::near}},
      {"near_tf32", {b32, Domain::single, Range::near}},
      {"finite_f16x2", {b32, Domain::half, Range::finite}},
      {"finite_bf16x2", {b32, Domain::bfloat, Range::finite}},
      {"finite_f32", {b32, Domain::single, Range::finite}},
      // 32-bit operands with a special meaning.
      {"count", {b32, Domain::count}},
      {"selector", {b32, Domain::selector}},
      {"lane", {b32, Domain::lane}},
      {"clamp", {b32, Domain::clamp}},
      {"few", {b32, Domain::few}},
      {"turn", {b32, Domain::turn}},
  };
  const auto found = kinds.find(name);
  if (found == kinds.end()) {
    throw std::logic_error(fmt::format("there is no kind '{}'", name));
  }
  return found->second;
}

std::vector<Case> expand(const std::string& group, const std::vector<Row>& rows) {
  std::vector<Case> cases;
  for (const Row& row : rows) {
    for (const Reading& reading : readings(row.text)) {
      Case made;
      made.group = group;
      made.results = kinds_of(filled_in(row.results, reading.chosen));
      made.operands = kinds_of(filled_in(row.operands, reading.chosen));
      made.text = statement(filled_in(reading.text, reading.chosen), made.results.size(),
                            made.operands.size());
      cases.push_back(std::move(made));
    }
  }
  return cases;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const Group& group : row_groups()) {
      const std::vector<Case> some = expand(group.name, group.rows);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return cases;
}

std::vector<std::string> all_groups() {
  std::vector<std::string> names;
  for (const Group& group : row_groups()) {
    names.push_back(group.name);
  }
  return names;
}

std::vector<Case> cases_of(const std::string& group) {
  std::vector<Case> cases;
  std::copy_if(all_cases().begin(), all_cases().end(), std::back_inserter(cases),
               [&](const Case& one) { return one.group == group; });
  return cases;
}

}  // namespace fatune::conformance

#include "conformance/recording.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fatune::conformance {
namespace {

constexpr const char* kFirstLine = "fatune conformance 1";

/// The text of a case in one line.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string packed(const Case& one, const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t size = recorded_bytes(one.results[i % one.results.size()]);
    for (std::size_t byte = 0; byte < size; ++byte) {
      bytes += static_cast<char>(values[i] >> (8 * byte) & 0xffU);
    }
  }
  return bytes;
}

std::vector<std::uint64_t> unpacked(const Case& one, const std::string& bytes) {
  std::vector<std::uint64_t> values;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t size = recorded_bytes(one.results[values.size() % one.results.size()]);
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < size && at < bytes.size(); ++byte, ++at) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * byte);
    }
    values.push_back(value);
  }
  return values;
}

std::map<std::string, const Case*> cases_by_line() {
  std::map<std::string, const Case*> cases;
  for (const Case& one : all_cases()) {
    cases[in_one_line(one.text)] = &one;
  }
  return cases;
}

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& line) {
  throw std::runtime_error(fmt::format("{}: no recording, at '{}'", file.string(), line));
}

}  // namespace

void write_recording(const std::filesystem::path& file, const Recording& recording) {
  std::ofstream out(file, std::ios::binary);
  out << kFirstLine << '\n' << recording.device << '\n';
  for (const Case& one : all_cases()) {
    if (const auto found = recording.results.find(one.text); found != recording.results.end()) {
      const std::string bytes = packed(one, found->second.values);
      out << fmt::format("\"{}\" {:016x} {}\n", in_one_line(one.text), found->second.operands_hash,
                         bytes.size())
          << bytes << '\n';
    }
  }
  if (!out.flush()) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

Recording read_recording(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  Recording recording;
  if (!std::getline(in, line) || line != kFirstLine || !std::getline(in, recording.device)) {
    fail(file, line);
  }
  const std::map<std::string, const Case*> cases = cases_by_line();
  while (std::getline(in, line)) {
    const std::size_t quote = line.rfind('"');
    Recording::Results results;
    std::size_t size = 0;
    std::istringstream numbers(quote == std::string::npos ? "" : line.substr(quote + 1));
    if (!(numbers >> std::hex >> results.operands_hash >> std::dec >> size) || size > (1U << 24U)) {
      fail(file, line);
    }
    std::string bytes(size, '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size)) || in.get() != '\n') {
      fail(file, line);
    }
    if (const auto found = cases.find(line.substr(1, quote - 1)); found != cases.end()) {
      results.values = unpacked(*found->second, bytes);
      recording.results[found->second->text] = std::move(results);
    }
  }
  return recording;
}

}  // namespace fatune::conformance

#include "base/csv.hpp"

#include <csv.h>

#include <algorithm>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostCsvBytes = std::size_t{256} << 20;

/// The rows that libcsv has read so far. Its callbacks are C: an exception is kept until they have
/// returned.
struct Reading {
  std::vector<CsvRow> rows;
  CsvRow row;
  bool out_of_memory = false;

  template <typename Work>
  void guard(Work work) noexcept {
    try {
      work();
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  }
};

void add_cell(void* text, std::size_t bytes, void* reading) {
  auto& state = *static_cast<Reading*>(reading);
  state.guard([&] { state.row.emplace_back(static_cast<const char*>(text), bytes); });
}

void end_row(int, void* reading) {
  auto& state = *static_cast<Reading*>(reading);
  state.guard([&] {
    state.rows.push_back(std::move(state.row));
    state.row.clear();
  });
}

[[noreturn]] void fail(const std::string& what, const std::string& source, std::size_t row) {
  throw Error(ExitCode::bad_file, "not comma-separated values: " + what,
              fmt::format("{}, row {}", source, row + 1));
}

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, const std::string& source) {
  Reading reading;
  if (text.size() > kMostCsvBytes) {
    fail("more than 256 MiB", source, 0);
  }
  if (text.find('\0') != std::string_view::npos) {
    fail("a NUL byte", source, 0);
  }
  const std::size_t valid = utf8_bytes(text);
  if (valid != text.size()) {
    const auto lines = std::ranges::count(text.substr(0, valid), '\n');
    fail("a byte that is not UTF-8", source, static_cast<std::size_t>(lines));
  }
  csv_parser parser{};
  if (::csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<csv_parser, void (*)(csv_parser*)> owner(&parser, &::csv_free);
  const std::size_t read =
      ::csv_parse(&parser, text.data(), text.size(), add_cell, end_row, &reading);
  if (reading.out_of_memory || ::csv_error(&parser) == CSV_ENOMEM) {
    throw std::bad_alloc();
  }
  if (read != text.size()) {
    fail(::csv_strerror(::csv_error(&parser)), source, reading.rows.size());
  }
  if (::csv_fini(&parser, add_cell, end_row, &reading) != 0) {
    fail("a quoted cell does not end", source, reading.rows.size());
  }
  return std::move(reading.rows);
}

}  // namespace fatune

#include "store/seal.hpp"

#include <array>
#include <bit>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {

void Digest::update(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char byte : bytes) {
    hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * kPrime;
  }
}

void Digest::add_bits(char type, std::uint64_t bits) {
  constexpr int kBitsPerByte = 8;
  std::array<char, 1 + sizeof bits> bytes{type};
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bits & 0xff);
    bits >>= kBitsPerByte;
  }
  update({bytes.data(), bytes.size()});
}

void Digest::add_integer(std::int64_t value) { add_bits('i', static_cast<std::uint64_t>(value)); }

void Digest::add(double value) { add_bits('r', std::bit_cast<std::uint64_t>(value)); }

void Digest::add(const std::string& value) {
  add_bits('t', value.size());
  update(value);
}

void Digest::add_null() { update("n"); }

void Digest::add_column(const Statement& row, int column) {
  const SQLite::Column value = row.column(column);
  if (value.isNull()) {
    add_null();
  } else if (value.isInteger()) {
    add_integer(value.getInt64());
  } else if (value.isFloat()) {
    add(value.getDouble());
  } else {
    add(value.getString());
  }
}

void Digest::add_row(const Statement& row, int first) {
  for (int column = first; column < row.columns(); ++column) {
    add_column(row, column);
  }
}

std::string Digest::hex() const { return fmt::format("{:016x}", hash_); }

namespace {

struct Sealed {
  const char* table;
  std::array<const char*, 2> rows;  ///< SQL for the sealed rows; its parameter is the id
};

constexpr Sealed kRun{
    "runs", {"SELECT * FROM runs WHERE id = ?", "SELECT count(*) FROM run_problems WHERE run = ?"}};
/// The seal covers the problem's outcomes once they are ranked. Until then they are added one by
/// one.
constexpr Sealed kProblem{
    "run_problems",
    {"SELECT rp.*, r.conditions FROM run_problems rp JOIN runs r ON r.id = rp.run WHERE rp.id = ?",
     "SELECT o.id, o.time_us, o.place FROM outcomes o "
     "JOIN run_problems rp ON rp.id = o.run_problem AND rp.ranked <> 0 WHERE rp.id = ? "
     "ORDER BY o.id"}};
constexpr Sealed kOutcome{
    "outcomes",
    {"SELECT o.*, rp.problem, rp.repetition, r.conditions, r.plan FROM outcomes o "
     "JOIN run_problems rp ON rp.id = o.run_problem JOIN runs r ON r.id = rp.run WHERE o.id = ?",
     "SELECT s.us FROM outcomes o JOIN samples s ON s.outcome = coalesce(o.source, o.id) "
     "WHERE o.id = ? ORDER BY s.number"}};

void add_named_row(const Statement& row, Digest& digest) {
  for (int column = 0; column < row.columns(); ++column) {
    if (!row.is_null(column) && row.name(column) != "seal") {
      digest.add(row.name(column));
      digest.add_column(row, column);
    }
  }
}

}  // namespace

class Sealer::Table {
 public:
  /// `name`: the table's name; `rows`: SQL for the sealed rows.
  Table(Database& database, const char* name, const std::array<const char*, 2>& rows)
      : database_(&database), name_(name), sql_(rows) {}

  void seal(std::int64_t id) {
    const std::string seal = present_seal(id);
    prepared(set_, "UPDATE {} SET seal = ? WHERE id = ?").bind(seal, id).run();
  }
  void check(std::int64_t id) {
    Statement& row = prepared(get_, "SELECT seal FROM {} WHERE id = ?");
    row.bind(id);
    const bool right = row.step() && row.text(0) == present_seal(id);
    row.reset();
    if (!right) {
      throw Error(ExitCode::bad_file, fmt::format("a row of {} does not match its seal", name_));
    }
  }

 private:
  Statement& prepared(std::optional<Statement>& statement, const char* sql) {
    if (!statement) {
      statement = database_->prepare(fmt::format(fmt::runtime(sql), name_));
    }
    return *statement;
  }

  std::string present_seal(std::int64_t id) {
    Digest digest;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Statement& rows = prepared(rows_.at(i), sql_.at(i));
      rows.bind(id);
      while (rows.step()) {
        add_named_row(rows, digest);
      }
      rows.reset();
    }
    return digest.hex();
  }

  Database* database_;
  const char* name_;
  std::array<const char*, 2> sql_;
  std::optional<Statement> set_;
  std::optional<Statement> get_;
  std::array<std::optional<Statement>, 2> rows_;
};

Sealer::Sealer(Database& database) {
  for (const Sealed* sealed : {&kRun, &kProblem, &kOutcome}) {
    tables_.push_back(std::make_unique<Table>(database, sealed->table, sealed->rows));
  }
}
Sealer::~Sealer() = default;

void Sealer::seal(Kind kind, std::int64_t id) {
  tables_.at(static_cast<std::size_t>(kind))->seal(id);
}
void Sealer::check(Kind kind, std::int64_t id) {
  tables_.at(static_cast<std::size_t>(kind))->check(id);
}

void seal_run(Database& database, std::int64_t id) { Sealer(database).seal(Sealer::Kind::run, id); }
void seal_problem(Database& database, std::int64_t id) {
  Sealer(database).seal(Sealer::Kind::problem, id);
}
void seal_outcome(Database& database, std::int64_t id) {
  Sealer(database).seal(Sealer::Kind::outcome, id);
}

void check_run_seal(Database& database, std::int64_t id) {
  Sealer(database).check(Sealer::Kind::run, id);
}
void check_problem_seal(Database& database, std::int64_t id) {
  Sealer(database).check(Sealer::Kind::problem, id);
}
void check_outcome_seal(Database& database, std::int64_t id) {
  Sealer(database).check(Sealer::Kind::outcome, id);
}

}  // namespace fatune

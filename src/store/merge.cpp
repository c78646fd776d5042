#include "store/merge.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "store/open_store.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

// Rows are read through a connection to each store and inserted as bound values. ATTACH would do
// the same in SQL, but SQLite attaches at most ten files and detaches none within a transaction,
// and a merge of any number of stores must be one transaction.

struct StoredRunKey {
  std::int64_t id = 0;
  std::string uid;           ///< the run's name, which is the same in every store
  std::int64_t content = 0;  ///< amount of stored data about the run: it only grows
  nlohmann::json header;
};

std::vector<StoredRunKey> runs_in(Database& database) {
  Statement row = database.prepare(
      "SELECT r.id, r.header, r.complete + "
      "(SELECT count(*) + coalesce(sum(ranked + finished), 0) FROM run_problems WHERE run = r.id) "
      "+ (SELECT count(*) FROM outcomes o JOIN run_problems p ON p.id = o.run_problem "
      "   WHERE p.run = r.id) "
      "+ (SELECT count(*) FROM journal j JOIN run_problems p ON p.id = j.run_problem "
      "   WHERE p.run = r.id) FROM runs r ORDER BY r.id");
  std::vector<StoredRunKey> runs;
  while (row.step()) {
    nlohmann::json header = parse_record(row.text(1));
    std::string uid = header_text(header, "/uid");
    runs.push_back({row.integer(0), std::move(uid), row.integer(2), std::move(header)});
  }
  return runs;
}

/// SQL for the ids of the rows that belong to a run.
constexpr const char* kProblemsOfRun = "(SELECT id FROM run_problems WHERE run = {})";
constexpr const char* kOutcomesOfRun =
    "(SELECT id FROM outcomes WHERE run_problem IN (SELECT id FROM run_problems WHERE run = {}))";

struct MergedTable {
  const char* name;
  const char* key;   ///< column that links rows to a run
  const char* keys;  ///< the column's values for a run; empty: the run's number
};

/// Each table comes after the tables that its rows refer to.
constexpr std::array<MergedTable, 5> kTables{{{"runs", "id", ""},
                                              {"run_problems", "run", ""},
                                              {"outcomes", "run_problem", kProblemsOfRun},
                                              {"samples", "outcome", kOutcomesOfRun},
                                              {"journal", "run_problem", kProblemsOfRun}}};

std::string rows_of(const MergedTable& table, std::int64_t run) {
  const std::string keys =
      *table.keys == '\0' ? fmt::format("({})", run) : fmt::format(fmt::runtime(table.keys), run);
  return fmt::format("FROM {} WHERE {} IN {}", table.name, table.key, keys);
}

std::vector<std::string> columns_of(Database& database, const char* table) {
  const Statement any = database.prepare(fmt::format("SELECT * FROM {} LIMIT 0", table));
  return mapped(std::views::iota(0, any.columns()), [&](int i) { return any.name(i); });
}

/// How the numbers of a store's rows change in the target.
struct NewNumbers {
  std::int64_t run = 0;       ///< the run's number
  std::int64_t problems = 0;  ///< added to the ids of run_problems
  std::int64_t outcomes = 0;  ///< added to the ids of outcomes
};

/// A column's value in the target, as an SQL expression on the store.
std::string new_value(const std::string& table, const std::string& column,
                      const NewNumbers& numbers) {
  if ((table == "runs" && column == "id") || column == "run") {
    return std::to_string(numbers.run);
  }
  if (column == "run_problem" || (table == "run_problems" && column == "id")) {
    return fmt::format("{} + {}", column, numbers.problems);
  }
  if (column == "source") {
    return fmt::format(
        "coalesce((SELECT now FROM temp.known_outcomes WHERE was = source), "
        "source + {})",
        numbers.outcomes);
  }
  if (column == "outcome" && table == "samples") {
    return fmt::format("outcome + {}", numbers.outcomes);
  }
  return table == "outcomes" && column == "id" ? fmt::format("id + {}", numbers.outcomes) : column;
}

std::string select_new(const MergedTable& table, const std::vector<std::string>& columns,
                       std::int64_t run, const NewNumbers& numbers) {
  const auto values = joined(columns, ", ", [&](const std::string& column) {
    return new_value(table.name, column, numbers);
  });
  return fmt::format("SELECT {} {}", values, rows_of(table, run));
}

std::vector<std::int64_t> ids_of(Database& database, const MergedTable& table, std::int64_t run) {
  return database.prepare("SELECT id " + rows_of(table, run) + " ORDER BY id").integers();
}

constexpr const MergedTable& kProblemTable = kTables[1];
constexpr const MergedTable& kOutcomeTable = kTables[2];

/// What measurements must have in common to be comparable.
struct Circumstances {
  std::array<std::pair<std::string_view, std::string>, 4> facts;  ///< with the name of each
  std::string where;                                              ///< the store, for messages
};

Circumstances circumstances_of(const nlohmann::json& header, const std::string& where) {
  const auto text = [&](const char* pointer) { return header_text(header, pointer); };
  return {
      {{{"times", is_measured(header) ? "measurements" : "estimates"},
        {"GPU model", text("/device/name")},
        {"driver",
         fmt::format("{} (CUDA {})", text("/toolchain/driver"), text("/toolchain/driver_cuda"))},
        {"policy", record_text(header.contains("policy") ? header["policy"] : nlohmann::json())}}},
      where};
}

void check_alike(const Circumstances& a, const Circumstances& b) {
  const auto [of_a, of_b] = std::ranges::mismatch(a.facts, b.facts);
  if (of_a != a.facts.end()) {
    throw Error(ExitCode::usage,
                fmt::format("the runs differ in their {}: {} in {}, {}", of_a->first, of_a->second,
                            a.where, of_b->second),
                b.where,
                "their times cannot be compared: merge each kind into a store of its own, or all "
                "with --grouped");
  }
}

class Merger {
 public:
  Merger(Database& target, Mixture mixture) : target_(target), mixture_(mixture) {
    for (StoredRunKey& run : runs_in(target)) {
      check_circumstances(run, target.path().string());
      known_[run.uid] = {run.id, run.content};
    }
    for (std::size_t i = 0; i < kTables.size(); ++i) {
      columns_.at(i) = columns_of(target, kTables.at(i).name);
      const std::vector<std::string_view> marks(columns_.at(i).size(), "?");
      inserts_.push_back(
          target.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", kTables.at(i).name,
                                     fmt::join(columns_.at(i), ", "), fmt::join(marks, ", "))));
    }
  }

  MergedStore merge(const std::filesystem::path& file) {
    Database store = open_store(file, Database::Mode::existing);
    store.execute(
        "CREATE TEMP TABLE known_outcomes (was INTEGER PRIMARY KEY, now INTEGER); "
        "CREATE TEMP TABLE left_out (run INTEGER PRIMARY KEY); BEGIN");
    MergedStore merged{.file = file};
    copy(store, choose(store, merged), merged);
    return merged;
  }

 private:
  struct Known {
    std::int64_t id = 0;
    std::int64_t content = 0;
  };

  void check_circumstances(const StoredRunKey& run, const std::string& where) {
    if (mixture_ == Mixture::grouped || !header_text(run.header, "/imported_from").empty()) {
      return;
    }
    const Circumstances these = circumstances_of(run.header, where);
    if (!circumstances_) {
      circumstances_ = these;
    }
    check_alike(*circumstances_, these);
  }

  /// Returns the runs to copy. Leaves out damaged runs, and runs that repeat outcomes of damaged
  /// runs.
  std::vector<StoredRunKey> choose(Database& store, MergedStore& merged) {
    std::vector<StoredRunKey> chosen;
    for (StoredRunKey& run : runs_in(store)) {
      const auto known = known_.find(run.uid);
      if (known != known_.end() && known->second.content >= run.content) {
        ++merged.known;
        note_outcomes(store, run.id, known->second.id);
      } else if (is_readable(store, run.id)) {
        check_circumstances(run, store.path().string());
        chosen.push_back(std::move(run));
      } else {
        merged.damaged.push_back(run.id);
        store.query("INSERT INTO temp.left_out VALUES (?)", run.id).run();
      }
    }
    std::erase_if(chosen, [&](const StoredRunKey& run) {
      const bool lacks = repeats_left_out(store, run.id);
      if (lacks) {
        merged.damaged.push_back(run.id);
      }
      return lacks;
    });
    return chosen;
  }

  static bool is_readable(Database& store, std::int64_t run) {
    try {
      for (const std::int64_t id : ids_of(store, kProblemTable, run)) {
        (void)load_problem(store, id);
      }
      return true;
    } catch (const Error& error) {
      if (error.where() == store.path().string()) {  // concerns the whole file, not a row
        throw;
      }
      return false;
    }
  }

  static bool repeats_left_out(Database& store, std::int64_t run) {
    Statement row = store.query(
        "SELECT count(*) FROM run_problems p JOIN outcomes o ON o.run_problem = p.id "
        "JOIN outcomes s ON s.id = o.source JOIN run_problems sp ON sp.id = s.run_problem "
        "JOIN temp.left_out l ON l.run = sp.run WHERE p.run = ?",
        run);
    return row.step() && row.integer(0) > 0;
  }

  /// Notes which ids the outcomes of a run have in the target: other runs of the store may repeat
  /// them.
  void note_outcomes(Database& store, std::int64_t run, std::int64_t in_target) {
    const auto here = ids_of(store, kOutcomeTable, run);
    const auto there = ids_of(target_, kOutcomeTable, in_target);
    Statement note = store.prepare("INSERT INTO temp.known_outcomes VALUES (?, ?)");
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
      note.bind(here[i], there[i]).run();
    }
  }

  void copy(Database& store, const std::vector<StoredRunKey>& runs, MergedStore& merged) {
    NewNumbers numbers{0, target_.value("SELECT coalesce(max(id), 0) FROM run_problems"),
                       target_.value("SELECT coalesce(max(id), 0) FROM outcomes")};
    for (const StoredRunKey& run : runs) {
      numbers.run = place_for(run, merged);
      for (std::size_t i = 0; i < kTables.size(); ++i) {
        copy_rows(store, i, run.id, numbers);
      }
      known_[run.uid] = {numbers.run, run.content};
      merged.outcomes += std::ssize(ids_of(target_, kOutcomeTable, numbers.run));
    }
  }

  void copy_rows(Database& store, std::size_t table, std::int64_t run, const NewNumbers& numbers) {
    Statement rows = store.prepare(select_new(kTables.at(table), columns_.at(table), run, numbers));
    while (rows.step()) {
      inserts_[table].bind_row(rows).run();
    }
  }

  /// Returns the run's number in the target. Deletes the rows that the target has of this run.
  std::int64_t place_for(const StoredRunKey& run, MergedStore& merged) {
    const auto known = known_.find(run.uid);
    if (known == known_.end()) {
      ++merged.added;
      return target_.value("SELECT coalesce(max(id), 0) FROM runs") + 1;
    }
    ++merged.renewed;
    for (auto table = kTables.rbegin(); table != kTables.rend(); ++table) {
      target_.execute("DELETE " + rows_of(*table, known->second.id));
    }
    return known->second.id;
  }

  Database& target_;
  Mixture mixture_;
  std::map<std::string, Known> known_;  ///< keyed by uid
  std::optional<Circumstances> circumstances_;
  std::array<std::vector<std::string>, kTables.size()> columns_;
  std::vector<Statement> inserts_;
};

/// A rollback journal writes new pages once, without writing them into a log first, which halves
/// the time. While another process has the file open, the write-ahead log stays.
void use_rollback_journal(Database& target) {
  try {
    target.execute("PRAGMA journal_mode = DELETE");
  } catch (const DatabaseLocked&) {  // NOLINT(bugprone-empty-catch): slower, and as safe
  }
}

}  // namespace

std::vector<MergedStore> merge_stores(Database& target,
                                      const std::vector<std::filesystem::path>& stores,
                                      Mixture mixture) {
  use_rollback_journal(target);
  const std::int64_t cache = target.value("PRAGMA cache_size");
  target.execute("PRAGMA cache_size = -131072");  // KiB; writes to the indexes are scattered
  Transaction transaction(target);
  target.execute("PRAGMA defer_foreign_keys = ON");
  Merger merger(target, mixture);
  auto merged = mapped(stores, [&](const auto& store) { return merger.merge(store); });
  transaction.commit();
  target.execute(fmt::format("PRAGMA cache_size = {}", cache));
  return merged;
}

}  // namespace fatune

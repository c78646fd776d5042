#include "store/version4.hpp"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "store/digest.hpp"
#include "store/insert.hpp"
#include "store/journal.hpp"
#include "store/schema.hpp"
#include "store/seal.hpp"
#include "store/stored_result.hpp"

// The tables of versions 1 to 3 had a column for each value, and extra tables for values that
// several rows share. Only this file knows these tables.
namespace fatune {
namespace {

using Json = nlohmann::json;

constexpr const char* kProblemOfDigests =
    "p.batch, p.seq_len, p.heads, p.d_head, p.dtype, "
    "CASE WHEN rp.problem_details = '' THEN p.causal ELSE p.causal || rp.problem_details END";

// The rows and columns that the seals of versions 2 and 3 cover.
constexpr const char* kSealedRun =
    "SELECT r.id, r.command_line, r.started_at, r.wall_s, r.complete, r.anew, r.space, r.family, "
    "r.baseline, r.free_memory_bytes, r.policy, r.toolchain, r.conditions, r.plan, r.busy_s, "
    "r.gpus, d.uuid, d.name, d.limits, "
    "(SELECT count(*) FROM run_problems rp WHERE rp.run = r.id) "
    "FROM runs r JOIN devices d ON d.id = r.device WHERE r.id = ?";
constexpr const char* kSealedProblem =
    "SELECT rp.id, rp.run, rp.repetition, rp.pruned, rp.invalid, rp.ranked, rp.finished, "
    "rp.details, {}, r.conditions, "
    "o.id, o.time_us, o.rank, o.tie_group, o.relative_percent, o.place "
    "FROM run_problems rp JOIN runs r ON r.id = rp.run JOIN problems p ON p.id = rp.problem "
    "LEFT JOIN outcomes o ON o.run_problem = rp.id AND rp.ranked <> 0 WHERE rp.id = ? "
    "ORDER BY o.id";
constexpr const char* kSealedOutcome =
    "SELECT o.id, o.run_problem, o.launch, o.tried, o.source, o.kind, o.time_us, o.digest, "
    "o.dynamic_smem_bytes, o.threads_per_block, o.blocks_per_sm, o.compile_ms, o.from_cache, "
    "o.total_flop, o.same_code_as, o.pruned_by, c.family, c.short_form, c.source_hash, "
    "c.kernel_name, c.config, c.parameters, a.key, a.code_hash, a.facts, rp.repetition, "
    "{}, r.conditions, r.plan "
    "FROM outcomes o JOIN configurations c ON c.id = o.configuration "
    "LEFT JOIN artifacts a ON a.id = o.artifact JOIN run_problems rp ON rp.id = o.run_problem "
    "JOIN runs r ON r.id = rp.run JOIN problems p ON p.id = rp.problem WHERE o.id = ?";
constexpr const char* kJournalProblem =
    "SELECT {}, rp.repetition, r.conditions, r.plan FROM run_problems rp "
    "JOIN problems p ON p.id = rp.problem JOIN runs r ON r.id = rp.run WHERE rp.id = ?";

Digest digest_of(Database& database, const char* sql, std::int64_t id) {
  Statement rows = database.prepare(fmt::format(fmt::runtime(sql), kProblemOfDigests));
  rows.bind(id);
  Digest digest;
  while (rows.step()) {
    digest.add_row(rows);
  }
  return digest;
}

/// The seal that the new row has until all rows are sealed: none, or "damaged" if the former row is
/// damaged. Rows that version 1 wrote have no seal. Columns: id, seal.
std::optional<std::string> kept_seal(Database& database, const char* sealed, const Statement& row) {
  const bool intact =
      row.is_null(1) || row.text(1) == digest_of(database, sealed, row.integer(0)).hex();
  return intact ? std::nullopt : std::optional<std::string>("damaged");
}

/// Parses a column that holds JSON. Returns null if it cannot be parsed.
Json parsed(const Statement& row, int column) {
  Json json = Json::parse(row.text(column), nullptr, false);
  return json.is_discarded() ? Json() : json;
}

Json real_or_null(const Statement& row, int column) {
  return row.is_null(column) ? Json() : Json(row.real(column));
}

std::optional<std::string> text_or_null(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.text(column));
}

// --- Runs ---

std::string header_of(const Statement& row) {
  Json device = parsed(row, 7);
  if (device.is_object()) {
    device["free_memory_bytes"] = row.integer(8);
  }
  return record_text({{"command_line", row.text(9)},
                      {"started_at", row.text(10)},
                      {"wall_s", row.real(11)},
                      {"busy_s", row.real(12)},
                      {"gpus", row.integer(13)},
                      {"space", row.text(14)},
                      {"family", row.text(15)},
                      {"device", std::move(device)},
                      {"policy", parsed(row, 16)},
                      {"toolchain", parsed(row, 17)}});
}

void convert_runs(Database& database) {
  Statement row = database.prepare(
      "SELECT r.id, r.seal, r.complete, r.anew, r.conditions, r.plan, r.baseline, d.limits, "
      "r.free_memory_bytes, r.command_line, r.started_at, r.wall_s, r.busy_s, r.gpus, r.space, "
      "r.family, r.policy, r.toolchain FROM runs r LEFT JOIN devices d ON d.id = r.device "
      "ORDER BY r.id");
  while (row.step()) {
    insert(database, "runs_4", Column{"id", row.integer(0)},
           Column{"seal", kept_seal(database, kSealedRun, row)}, Column{"complete", row.flag(2)},
           Column{"anew", row.flag(3)}, Column{"conditions", row.text(4)},
           Column{"plan", row.text(5)}, Column{"baseline", text_or_null(row, 6)},
           Column{"header", header_of(row)});
  }
}

// --- Problems ---

/// Returns an empty text if the problem cannot be read.
std::string problem_of(const Statement& row, int first) {
  const std::string details = row.text(first + 6);
  Json record =
      record_json(Problem{row.integer(first), row.integer(first + 1), row.integer(first + 2),
                          row.integer(first + 3), DType::fp16, row.flag(first + 5)});
  try {
    record["dtype"] = dtype_name(static_cast<DType>(row.integer(first + 4)));
    record["details"] = details.empty() ? Json::object() : Json(parse_record(details));
    return column_text(read_record<Problem>(record));
  } catch (const Error&) {
    return {};
  }
}

std::string report_of(const Statement& row) {
  Json report = record_json(ProblemReport{});
  report["pruned"] = row.integer(5);
  report["invalid"] = row.integer(6);
  if (const Json details = parsed(row, 7); details.is_object()) {
    report.update(details);
  }
  return record_text(report);
}

void convert_problems(Database& database) {
  Statement row = database.prepare(
      "SELECT rp.id, rp.seal, rp.run, rp.ranked, rp.finished, rp.pruned, rp.invalid, rp.details, "
      "rp.repetition, p.batch, p.seq_len, p.heads, p.d_head, p.dtype, p.causal, "
      "rp.problem_details FROM run_problems rp LEFT JOIN problems p ON p.id = rp.problem "
      "ORDER BY rp.id");
  while (row.step()) {
    insert(database, "run_problems_4", Column{"id", row.integer(0)},
           Column{"seal", kept_seal(database, kSealedProblem, row)}, Column{"run", row.integer(2)},
           Column{"ranked", row.flag(3)}, Column{"finished", row.flag(4)},
           Column{"report", report_of(row)}, Column{"repetition", row.integer(8)},
           Column{"problem", problem_of(row, 9)});
  }
}

// --- Outcomes ---

Json parameters_of(const Statement& row, int column) {
  Json list = Json::array();
  for (const Json& pair : parsed(row, column)) {
    list.push_back({{"name", pair.at(0)}, {"text", pair.at(1)}});
  }
  return list;
}

Json result_of(const Statement& row) {
  return {{"config", parsed(row, 13)},
          {"short_form", row.text(14)},
          {"kernel_name", row.text(15)},
          {"parameters", parameters_of(row, 16)},
          {"facts", parsed(row, 17)},
          {"artifact_key", row.text(3)},
          {"outcome", parsed(row, 18)},
          {"reused", !row.is_null(6)},
          {"dynamic_smem_bytes", row.integer(19)},
          {"threads_per_block", row.integer(20)},
          {"blocks_per_sm", row.integer(21)},
          {"compile_ms", row.real(22)},
          {"from_cache", row.flag(23)},
          {"total_flop", real_or_null(row, 24)},
          {"same_code_as", row.text(25)},
          {"pruned_by", row.text(26)},
          {"rank", row.integer(27)},
          {"tie_group", row.integer(28)},
          {"relative_percent", row.real(29)}};
}

/// Whether the stored digest matches the outcome's text and samples.
bool has_digest(Database& database, const Statement& row) {
  Digest digest;
  digest.update(row.text(18));
  Statement samples = database.prepare("SELECT us FROM samples WHERE outcome = ? ORDER BY number");
  samples.bind(row.integer(row.is_null(6) ? 0 : 6));
  while (samples.step()) {
    digest.update(fmt::format(",{}", samples.real(0)));
  }
  return digest.hex() == row.text(12);
}

/// The columns from `outcome` on are in the order in which result_of() reads them.
constexpr const char* kOutcomes =
    "SELECT o.id, o.seal, o.run_problem, a.key, o.launch, o.tried, o.source, o.kind, o.time_us, "
    "o.place, a.code_hash, c.source_hash, o.digest, c.config, c.short_form, c.kernel_name, "
    "c.parameters, a.facts, o.outcome, o.dynamic_smem_bytes, o.threads_per_block, "
    "o.blocks_per_sm, o.compile_ms, o.from_cache, o.total_flop, o.same_code_as, o.pruned_by, "
    "o.rank, o.tie_group, o.relative_percent FROM outcomes o "
    "LEFT JOIN configurations c ON c.id = o.configuration "
    "LEFT JOIN artifacts a ON a.id = o.artifact ORDER BY o.id";

void convert_outcome(Database& database, const Statement& row, std::optional<std::string> seal,
                     const std::string& result) {
  insert(database, "outcomes_4", Column{"id", row.integer(0)}, Column{"seal", std::move(seal)},
         Column{"run_problem", row.integer(2)}, Column{"artifact_key", text_or_null(row, 3)},
         Column{"launch", row.text(4)}, Column{"tried", row.flag(5)},
         Column{"source", row.is_null(6) ? std::nullopt : std::optional(row.integer(6))},
         Column{"kind", row.text(7)},
         Column{"time_us", row.is_null(8) ? std::nullopt : std::optional(row.real(8))},
         Column{"place", row.is_null(9) ? std::nullopt : std::optional(row.integer(9))},
         Column{"code_hash", row.text(10)}, Column{"source_hash", row.text(11)},
         Column{"audited", !row.text(26).empty()}, Column{"result", result});
}

void convert_outcomes(Database& database) {
  Statement row = database.prepare(kOutcomes);
  while (row.step()) {
    std::optional<std::string> seal = kept_seal(database, kSealedOutcome, row);
    std::string result;
    try {
      result = record_text(result_of(row));
    } catch (const Json::exception&) {  // a parameter is not a pair
      seal = "damaged";
    }
    if (!has_digest(database, row)) {
      seal = "damaged";
    }
    convert_outcome(database, row, std::move(seal), result);
  }
}

// --- Tables ---

std::map<std::int64_t, Digest> former_journals(Database& database) {
  Statement rows = database.prepare("SELECT DISTINCT run_problem FROM journal");
  std::map<std::int64_t, Digest> digests;
  for (const std::int64_t id : rows.integers()) {
    digests.emplace(id, digest_of(database, kJournalProblem, id));
  }
  return digests;
}

constexpr const char* kReplaceTables = R"sql(
DROP TABLE outcomes;
DROP TABLE run_problems;
DROP TABLE runs;
DROP TABLE artifacts;
DROP TABLE configurations;
DROP TABLE problems;
DROP TABLE devices;
ALTER TABLE runs_4 RENAME TO runs;
ALTER TABLE run_problems_4 RENAME TO run_problems;
ALTER TABLE outcomes_4 RENAME TO outcomes;
)sql";

}  // namespace

void convert_to_version_4(Database& database) {
  convert_runs(database);
  convert_problems(database);
  convert_outcomes(database);
  const std::map<std::int64_t, Digest> journals = former_journals(database);
  database.execute(kReplaceTables);
  make_indexes(database);
  for (const auto& [run_problem, former] : journals) {
    renew_digests(database, run_problem, former);
  }
  seal_unsealed(database);
}

}  // namespace fatune
